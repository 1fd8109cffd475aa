/**
 * Whose key a secret is, told in a time that says nothing of the keys there are: found by the head of its hash, and the whole
 * hash compared in constant time. A secret that is nobody's is compared with as much as one that is somebody's.
 */
import { timingSafeEqual } from 'node:crypto'
import type { ClientKey, KeptClient } from './client.ts'
import { sha256 } from './secret.ts'

/** The key that this secret is, and its client. */
export type KeyFinder = (secret: string) => Found | undefined

type Found = readonly [KeptClient, ClientKey]

/** Hexadecimal digits. */
const headLength = 8

/** Compared with where no key has that head: no text has this hash that anybody knows of. */
const nobody = '0'.repeat(64)

export function keyFinder(clients: readonly KeptClient[]): KeyFinder {
  const byHead = new Map<string, Found[]>()
  for (const client of clients) {
    for (const key of client.keys) {
      const head = key.sha256.slice(0, headLength)
      const alike = byHead.get(head)
      if (alike === undefined) byHead.set(head, [[client, key]])
      else alike.push([client, key])
    }
  }
  return (secret) => {
    const hash = sha256(secret)
    const candidates = byHead.get(hash.slice(0, headLength))
    if (candidates === undefined) {
      isSame(nobody, hash)
      return undefined
    }
    // All of them, whichever it is.
    return candidates.filter(([, key]) => isSame(key.sha256, hash))[0]
  }
}

function isSame(kept: string, sent: string): boolean {
  return timingSafeEqual(Buffer.from(kept, 'hex'), Buffer.from(sent, 'hex'))
}
