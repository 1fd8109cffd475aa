/**
 * Copying a record of our own into another store: a block that lasts, a broker's clients, who was told what.
 */
import { checkedRecord } from './record-check.ts'
import type { Versioned } from './token-store.ts'
import { untilSwapped, type GuardedStore } from './guarded-store.ts'
import type { Write } from './lineage.ts'
import { isDamaged } from './read-record.ts'
import { isBegunAnew, isOfOneStore } from './record-names.ts'
import { systemRuntime } from '../support/runtime.ts'

/** Begins the names of the writes of a copy: what nobody has written over since may be copied again. */
const byCopy = 'copied '

/**
 * @returns `left` for notes that the target has others of: those stay
 * @throws StoreError for notes that can't be read, or a record that can't be written
 */
export async function copyOwnRecord(name: string, from: GuardedStore, to: GuardedStore): Promise<'copied' | 'left'> {
  const source = isOfOneStore(name) ? undefined : await readable(name, from)
  if (source?.record === undefined) return 'copied'
  const { record } = source
  const writeId = byCopy + systemRuntime.uniqueId()
  return untilSwapped(systemRuntime, async () => {
    const target = await readable(name, to)
    if (target?.record !== undefined) {
      if (JSON.stringify(target.record) === JSON.stringify(record)) return 'copied'
      if (target.writeId?.startsWith(byCopy) !== true) return isBegunAnew(name) ? 'copied' : 'left'
    }
    const swapped = await to.swap(name, target, record, writeId)
    return 'conflict' in swapped ? undefined : 'copied'
  })
}

/** Without a record: one stands there that can't be read, and may be written over. */
async function readable(
  name: string,
  store: GuardedStore,
): Promise<(Write & { readonly record?: Versioned['record'] }) | undefined> {
  try {
    const stored = await store.read(name)
    return stored && checkedRecord(stored, 'firewall', 'refresh-budget', 'tries', 'refresh-tokens', 'notes')
  } catch (error) {
    if (isDamaged(error) && isBegunAnew(name) && error.unread !== undefined) return error.unread
    throw error
  }
}
