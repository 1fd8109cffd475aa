/** Changing the key of a store, where it is. */
import { StoreError } from '../errors.ts'
import { checkOptionNames } from '../support/options.ts'
import { startTimeLimit } from '../support/time-limit.ts'
import type { TokenStore } from './token-store.ts'
import { namesOf } from './account-list.ts'
import { untilSwapped, type GuardedStore, guardStore } from './guarded-store.ts'
import { isDamaged, mayBeOfOneRecord } from './read-record.ts'
import { isBegunAnew } from './own-record.ts'
import { systemRuntime } from '../support/runtime.ts'

/** Looks at all records, so that the last one finds what was written while those before it were under way. */
const mostPasses = 5

/** What `rekey` takes in addition. */
export interface RekeyOptions {
  /** Called for each record that was looked at; `rewritten` counts those that were written again. */
  readonly onProgress?: ((progress: RekeyProgress) => void) | undefined
}

/** How far a change of the key is. */
export interface RekeyProgress {
  readonly rewritten: number
}

/**
 * Writes every record of a store again that is not sealed with the new key: accounts, and the records of our own, the
 * broker's clients among them. Processes may go on, if each has both keys. Once it resolves the old key is needed no more,
 * provided that every process has the new key first.
 *
 * @param from - the store with all keys
 * @param to - the same store, with the new key alone
 * @returns how many records were written
 * @throws TypeError if `from` can't list its accounts, or `to` is another place
 * @throws StoreError after all others were written, for a record that no key opens, or that can't be written; and where a
 *   process still seals with an old key. A repetition is harmless
 */
export async function rekey(from: TokenStore, to: TokenStore, options: RekeyOptions = {}): Promise<number> {
  checkOptionNames('rekey', options, { onProgress: true })
  const { onProgress } = options
  if (onProgress !== undefined && typeof onProgress !== 'function') throw new TypeError('onProgress must be a function')
  const [source, target] = [guardStore(from, startTimeLimit, 'from'), guardStore(to, startTimeLimit, 'to')]
  let rewritten = 0
  for (let passes = 0; passes < mostPasses; passes += 1) {
    const before = rewritten
    let failure: unknown
    for await (const name of namesOf(source)) {
      try {
        if (await rewrite(name, source, target)) rewritten += 1
      } catch (error) {
        if (!mayBeOfOneRecord(error)) throw error
        // Whoever reads such a record next begins it anew.
        if (!isDamaged(error) || !isBegunAnew(name)) failure ??= error
      }
      onProgress?.({ rewritten })
    }
    if (failure !== undefined) throw failure
    if (rewritten === before) return rewritten
  }
  const message = 'Records are still being sealed with an old key: give every process the new key first, then repeat.'
  throw new StoreError('wrong-key', message)
}

async function rewrite(name: string, from: GuardedStore, to: GuardedStore): Promise<boolean> {
  if (await isOpenTo(name, to)) return false
  const writeId = systemRuntime.uniqueId()
  return untilSwapped(systemRuntime, async () => {
    const stored = await from.read(name)
    if (stored === undefined) return false
    const swapped = await to.swap(name, stored, stored.record, writeId, { forgetOlder: true })
    if (!('conflict' in swapped)) return true
    // Another process has written it meanwhile, maybe with the new key.
    return (await isOpenTo(name, to)) ? false : undefined
  })
}

async function isOpenTo(name: string, store: GuardedStore): Promise<boolean> {
  try {
    if ((await store.read(name)) !== undefined) return true
  } catch (error) {
    if (isDamaged(error)) return false
    throw error
  }
  throw new TypeError('to: this is not the same store, with another key')
}
