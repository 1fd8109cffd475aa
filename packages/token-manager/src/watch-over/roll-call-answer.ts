/**
 * The answer to a roll call: a process looks at all accounts that it holds, and so puts back what the store has lost, also
 * where nobody asks it for anything.
 */
import { isDamaged, isOfOneRecord, mayBeOfOneRecord } from '../store/record-failure.ts'
import type { Account } from '../kernel/account-memory.ts'
import type { Context } from '../kernel/context.ts'
import { run } from '../kernel/driver.ts'
import { currentCall } from './roll-call.ts'

/** Milliseconds between two looks at the roll call: several in the time in which nothing restored is sent. */
const interval = 15_000
/** Accounts that are looked at side by side. */
const together = 16

/** For as long as anybody holds the manager: a forgotten one, of one request or one test, is not kept alive by its timer. */
export function answerRollCalls(context: Context): void {
  const held = new WeakRef(context)
  let isAnswering = false
  const end = context.runtime.every?.(interval, () => {
    const living = held.deref()
    if (living === undefined) end?.()
    if (living === undefined || isAnswering) return
    isAnswering = true
    // Where the store is down, it is looked at again in 15 seconds; whoever needs it hears of it.
    void answerRollCall(living)
      .catch(() => undefined)
      .finally(() => (isAnswering = false))
  })
}

async function answerRollCall(context: Context): Promise<void> {
  const { memory, rollCall } = context
  const held = [...memory.all()].filter(({ knowledge }) => knowledge.record !== undefined)
  if (held.length === 0) return
  const call = await currentCall(context)
  if (call === rollCall.answered) return
  let isAll = true
  for (let from = 0; from < held.length; from += together) {
    const looks = await Promise.all(held.slice(from, from + together).map((account) => lookAt(account, context)))
    isAll &&= looks.every((outcome) => outcome === 'done')
    // The store takes nothing: the others would be asked of it in vain.
    if (looks.every((outcome) => outcome === 'refused')) return
  }
  if (isAll) rollCall.answered = call
}

/** One record that can't be read or written keeps no other from being put back. `again`: another look may find more. */
async function lookAt(account: Account, context: Context): Promise<'done' | 'again' | 'refused'> {
  try {
    await run(account, { kind: 'look' }, context)
    return 'done'
  } catch (error) {
    if (!mayBeOfOneRecord(error)) throw error
    if (isDamaged(error)) return 'done'
    return isOfOneRecord(error) ? 'again' : 'refused'
  }
}
