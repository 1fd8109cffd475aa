/** Records and short ways to store them. */
import { createHash, randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { TokenRecord, TokenStore } from '@owner-sso/token-manager'

export const account = 'ann@example.com'

/** A record of a few kilobytes that is recognised by its number. */
export function sample(number: number): TokenRecord {
  const filling = `${number};`.repeat(500)
  const record: TokenRecord = JSON.parse(JSON.stringify({ schema: 1, state: 'signed-in', filling }))
  return record
}

/** SHA-256 of an account's name: what its folder is called. */
export const keyOf = (name: string): string => createHash('sha256').update(name).digest('hex')

/** The folder in which the version files of an account lie, `t.1` and so on. */
export function folderOf(path: string, name = account): string {
  return join(path, keyOf(name).slice(0, 2), keyOf(name))
}

/** Writes `count` versions over what stands. */
export async function grow(store: TokenStore, count: number, name = account): Promise<void> {
  for (let round = 0; round < count; round += 1) {
    const version = (await store.read(name))?.version ?? 0
    const answer = await store.swap(name, version, sample(version + 1), randomUUID())
    if ('conflict' in answer) throw new Error('conflict')
  }
}

/** Everything below a folder that is no folder itself, as paths relative to it. */
export function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(path.length + 1))
    .toSorted()
}

/** Short by default; the long form of every scenario with OWNER_SSO_SOAK=1. */
export function rounds(short: number, long: number): number {
  return process.env['OWNER_SSO_SOAK'] === '1' ? long : short
}
