/**
 * Whose key a secret is, told in a time that says nothing of the keys there are: found by the head of its hash, and the whole
 * hash compared in constant time. A secret that is nobody's is compared with as much as one that is somebody's.
 */
import { timingSafeEqual } from 'node:crypto'
import type { ClientKey, KeptClient } from './client.ts'
import { sha256 } from './secret.ts'

/** The key that this secret is, and its client. */
export type KeyFinder = (secret: string) => readonly [KeptClient, ClientKey] | undefined

interface Candidate {
  readonly hash: Buffer
  readonly found?: readonly [KeptClient, ClientKey]
}

/** Hexadecimal digits. */
const headLength = 8

/** No text has this hash that anybody knows of. */
const nobody: readonly [Candidate] = [{ hash: Buffer.alloc(32) }]

export function keyFinder(clients: readonly KeptClient[]): KeyFinder {
  const byHead = new Map<string, Candidate[]>()
  for (const client of clients) {
    for (const key of client.keys) {
      const head = key.sha256.slice(0, headLength)
      byHead.set(head, [...(byHead.get(head) ?? []), { hash: Buffer.from(key.sha256, 'hex'), found: [client, key] }])
    }
  }
  return (secret) => {
    const hash = sha256(secret)
    const sent = Buffer.from(hash, 'hex')
    const candidates = byHead.get(hash.slice(0, headLength)) ?? nobody
    // All of them, whichever it is.
    return candidates.filter((each) => timingSafeEqual(each.hash, sent))[0]?.found
  }
}
