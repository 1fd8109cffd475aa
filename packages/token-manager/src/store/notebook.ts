/**
 * Notes that another package of ours keeps in the store, beside the token sets: which clients a broker has, who was told
 * what. All processes that share the store share them, and a sealed store seals them.
 */
import { StoreError } from '../errors.ts'
import { startTimeLimit } from '../support/time-limit.ts'
import { checkedRecord } from './record-check.ts'
import type { NotesRecord } from './token-record.ts'
import type { TokenStore } from './token-store.ts'
import { untilSwapped, guardStore } from './guarded-store.ts'
import { isDamaged } from './read-record.ts'
import { notesRecordName } from './own-record.ts'
import { systemRuntime } from '../support/runtime.ts'

/** JSON values, by whatever its owner names them. Their owner checks them when it reads them. */
export type Notes = NotesRecord['notes']

/** The notes on one topic, as all processes that share the store see them. */
export interface Notebook {
  /** `{}` where nothing was ever written; the same object again while nobody writes. @throws StoreError */
  read(): Promise<Notes>
  /**
   * Writes what `change` makes of the notes, by compare-and-swap. Two processes never overwrite each other: `change` is called
   * again with what the other one wrote. Where it returns what it was given nothing is written.
   *
   * @returns what stands there now
   * @throws StoreError; what `change` throws, and then nothing is written
   */
  change(change: (notes: Notes) => Notes): Promise<Notes>
}

const none: Notes = Object.freeze({})

type Written = ReturnType<typeof checkedRecord<'notes'>>

/**
 * Opens the notes on one topic.
 *
 * @param topic - one record for each; no topic may hold more than a record may (some hundred kilobytes)
 */
export function notebook(store: TokenStore, topic: string): Notebook {
  const guarded = guardStore(store, startTimeLimit)
  const name = notesRecordName(topic)
  let last: Written | undefined
  const stored = async (): Promise<Written | undefined> => {
    try {
      const found = await guarded.read(name)
      // No two writes have the same id: what was checked once is as it was.
      if (found?.writeId !== undefined && found.writeId === last?.writeId && found.version === last.version) return last
      return (last = found && checkedRecord(found, 'notes'))
    } catch (error) {
      throw isDamaged(error) ? named(name, error) : error
    }
  }
  return {
    read: async () => (await stored())?.record.notes ?? none,
    change: (change) =>
      untilSwapped(systemRuntime, async () => {
        const before = await stored()
        const notes = before?.record.notes ?? none
        const next = change(notes)
        if (next === notes) return notes
        const record: NotesRecord = { schema: 1, state: 'notes', notes: next }
        const swapped = await guarded.swap(name, before, record, systemRuntime.uniqueId(), { forgetOlder: true })
        return 'conflict' in swapped ? undefined : next
      }),
  }
}

/** Notes are not begun anew: those on a broker's clients can't be said again. */
function named(name: string, { reason, unread }: StoreError): StoreError {
  const remedies: { readonly [Reason in StoreError['reason']]?: string } = {
    'wrong-key': 'Also give the key that it was sealed with, and change keys with rekey.',
    'not-sealed': 'It was stored without a key: seal the store with owner-sso rekey, or leave out the key.',
  }
  const remedy = remedies[reason] ?? 'Restore it from a backup, or remove it: its notes are begun anew.'
  return new StoreError(reason, `The token store's record ${name} can't be read. ${remedy}`, { unread })
}
