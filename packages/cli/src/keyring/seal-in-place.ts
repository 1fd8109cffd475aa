/**
 * Seals the plain records of a store where they are. Each takes the place of its plain predecessor in one instant, so a crash
 * leaves every record either plain or sealed, and both are read.
 */
import { randomUUID } from 'node:crypto'
import { StoreError, type TokenStore, type Versioned } from '@owner-sso/core'

export interface SealedInPlace {
  readonly records: number
  /** Records that stay plain until their next write, because a refresh of theirs is under way. */
  readonly waiting: number
}

/**
 * @param folder - the store without encryption
 * @param sealed - the same with encryption
 * @throws StoreError where a record can't be written; those before it are sealed
 */
export async function sealInPlace(folder: TokenStore, sealed: TokenStore): Promise<SealedInPlace> {
  const count = { records: 0, waiting: 0, none: 0 }
  for (const name of await namesIn(folder)) count[await sealRecord(name, folder, sealed)] += 1
  return count
}

/** Those that can be read: what is wrong with another is told by whoever needs it. */
export async function namesIn(folder: TokenStore): Promise<string[]> {
  const names: string[] = []
  try {
    for await (const name of folder.accounts?.() ?? []) names.push(name)
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
  }
  return names
}

async function sealRecord(name: string, folder: TokenStore, sealed: TokenStore): Promise<keyof SealedInPlace | 'none'> {
  for (;;) {
    const stored = await folder.read(name)
    if (stored === undefined || stored.record.state === 'sealed') return 'none'
    // Whoever sends this refresh could not save its tokens, if it knows nothing of the key.
    if (isRefreshing(stored)) return 'waiting'
    const { version, writeId, record } = stored
    const over = writeId === undefined ? {} : { expectedWriteId: writeId }
    const swapped = await sealed.swap(name, version, record, randomUUID(), { ...over, forgetOlder: true })
    if (!('conflict' in swapped)) return 'records'
  }
}

/** Seconds, more than anybody waits for the answer to a refresh. */
const longestRefresh = 300

function isRefreshing({ record }: Versioned): boolean {
  const intent = record.state === 'signed-in' ? record.intent : undefined
  if (intent === undefined || intent.answerLost === true) return false
  return Math.abs(Date.now() / 1000 - intent.at) < longestRefresh
}
