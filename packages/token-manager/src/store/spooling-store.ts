/**
 * The spooling store: beside the store there is a second one, the spool, where new tokens outlive the process that received them
 * while the store refuses them. Whichever process reads the account next carries them over, by the lineage rule.
 *
 * The spool only helps: one that fails fails nothing.
 */
import { StoreError } from '../errors.ts'
import { pause, type Runtime } from '../support/runtime.ts'
import type { UnderWay } from '../support/under-way.ts'
import { untilSwapped, asSafe, type GuardedStore } from './guarded-store.ts'
import { withEvent } from './history.ts'
import { holdsResult, isBehind, isSameWrite, mayReplace, placed, type RefreshResult, type Write } from './lineage.ts'
import { accountRecord, withoutShownTokens, isDamaged, mayBeOfOneRecord } from './read-record.ts'
import { checkedRecord } from './record-check.ts'
import { isOwnRecordName } from './own-record.ts'
import type { AccountRecord, SpooledRecord, SpooledResult } from './token-record.ts'
import type { Versioned } from './token-store.ts'

/** Two stores, and whom they tell: what waited in the spool is in the store, or was worthless by then. */
interface Spooling {
  readonly store: GuardedStore
  readonly spool: GuardedStore
  readonly runtime: Runtime
  readonly tell: (what: 'carried-over' | 'superseded', account: string) => void
}

interface Waiting {
  readonly result: SpooledResult
  readonly at: Write
}

export interface SpoolingStore extends GuardedStore {
  /** Reads what ever waited in the spool, and so carries it over. Returns whether a repetition would find more. */
  carryAllOver(isEnding: () => boolean): Promise<boolean>
}

export function spoolingStore(spooling: Spooling): SpoolingStore {
  const { store, spool, runtime, tell } = spooling
  const report = reporter()
  /** What this process keeps there: its commits put it into the store. */
  const own = new Map<string, { readonly result: RefreshResult; readonly at: Write }>()

  /** What stands there. No result: nothing waits, or it can't be read, and newer tokens may take its place. */
  async function look(account: string): Promise<(Partial<Waiting> & Pick<Waiting, 'at'>) | undefined> {
    try {
      const at = await spool.read(account)
      const result = at && checkedRecord(at, 'spooled').record.result
      if (!result) return at && { at }
      const { derivedFrom, next } = result
      const hidden = { derivedFrom: withoutShownTokens(derivedFrom), next: withoutShownTokens(next) }
      return { at, result: { ...result, ...hidden } }
    } catch (error) {
      report(error)
      if (isDamaged(error) && error.unread !== undefined) return { at: error.unread }
      throw error
    }
  }

  /** Where it can't be read, the store alone decides, as it would without one. */
  async function waiting(account: string): Promise<Waiting | undefined> {
    const { at, result } = (await look(account).catch(() => undefined)) ?? {}
    return at && result && { at, result }
  }

  async function write(account: string, over: Write | undefined, result?: SpooledResult): Promise<Write | undefined> {
    const record: SpooledRecord = { schema: 1, state: 'spooled', ...(result && { result }) }
    // What stood there before is spent, carried over or superseded.
    const swapped = await spool.swap(account, over, record, runtime.uniqueId(), { forgetOlder: true })
    return 'conflict' in swapped ? undefined : swapped
  }

  /** Whether it is there. A refusal is not kept: there is nothing to save. */
  async function keep(account: string, result: RefreshResult, version: number): Promise<boolean> {
    const { derivedFrom, next } = result
    if (own.get(account)?.result === result) return true
    if (next.state !== 'signed-in') return false
    try {
      const kept = { version, derivedFrom, next }
      const at = await untilSwapped(runtime, async () => write(account, (await look(account))?.at, kept))
      own.set(account, { result, at })
      return true
    } catch (error) {
      report(error)
      return false
    }
  }

  async function clear(account: string, at: Write): Promise<boolean> {
    own.delete(account)
    return (await write(account, at).catch(() => undefined)) !== undefined
  }

  /** @param isOwn - this process's commit puts it into the store: here it is taken out, where that is over */
  async function carryOver(
    account: string,
    first: Versioned | undefined,
    { result, at }: Waiting,
    isOwn: boolean,
  ): Promise<Versioned | undefined> {
    const writeId = runtime.uniqueId()
    let read: (() => Promise<Versioned | undefined>) | undefined
    const ended = await untilSwapped(runtime, async () => {
      const stored = accountRecord(await (read?.() ?? first))
      read = () => store.read(account)
      if (stored !== undefined && holdsResult(stored.record, result)) return { stored, told: 'carried-over' as const }
      const isNext = stored !== undefined && mayReplace(stored.record, result)
      const isLost = stored === undefined || isBehind(stored, { version: result.version, record: result.derivedFrom })
      if (!isNext && !isLost) return { stored, told: 'superseded' as const }
      if (isOwn) return { stored, told: undefined }
      const by = { wall: runtime.wallClock(), holder: runtime.holder }
      const record = withEvent(placed(result, stored?.record), { what: 'carried-over' }, by)
      // It may have been in the store before, and been spent since.
      const swapped = await store.swap(account, stored, isNext ? record : inDoubt(record, runtime), writeId)
      return 'conflict' in swapped ? undefined : { stored: swapped, told: 'carried-over' as const }
    })
    if (ended.told !== undefined && (await clear(account, at)) && !isOwn) tell(ended.told, account)
    return ended.stored
  }

  return {
    ...store,
    beneath: store,
    async read(account, { result } = {}) {
      if (isOwnRecordName(account)) return store.read(account)
      const [stored, left] = await Promise.all([
        store.read(account).catch(async (error: unknown) => {
          throw result !== undefined && (await keep(account, result, 0)) && error instanceof StoreError
            ? asSafe(error)
            : error
        }),
        waiting(account),
      ])
      if (left === undefined) return stored
      const mine = own.get(account)
      return carryOver(account, stored, left, mine !== undefined && isSameWrite(left.at, mine.at))
    },
    async swap(account, over, next, writeId, options = {}) {
      const { result, forgetOlder } = options
      try {
        const swapped = await store.swap(account, over, next, writeId, options)
        if (!('conflict' in swapped)) await takeOut(account, forgetOlder === true && !isOwnRecordName(account))
        return swapped
      } catch (error) {
        if (result === undefined || !(error instanceof StoreError)) throw error
        throw (await keep(account, result, over?.version ?? 0)) ? asSafe(error) : error
      }
    },
    async carryAllOver(isEnding) {
      let isAll = true
      try {
        for await (const name of spool.accounts?.() ?? []) {
          if (isEnding()) return true
          // One record that can't be read or written keeps no other from being carried over.
          await this.read(name).catch((error: unknown) => {
            if (!mayBeOfOneRecord(error)) throw error
            isAll &&= isDamaged(error)
          })
        }
        return !isAll
      } catch (error) {
        // A store that is down comes back.
        return !isAll || !isDamaged(error)
      }
    },
  }

  /** What is in the store by now, or what a sign-in or a sign-out has made worthless. */
  async function takeOut(account: string, isSession: boolean): Promise<void> {
    const mine = own.get(account)
    if (mine !== undefined) await clear(account, mine.at)
    const left = isSession ? await waiting(account) : undefined
    if (left !== undefined) await clear(account, left.at)
  }
}

function inDoubt(record: AccountRecord, { uniqueId, holder, wallClock }: Runtime): AccountRecord {
  if (record.state !== 'signed-in') return record
  return {
    ...record,
    intent: { id: uniqueId(), holder, replay: 0, at: Math.floor(wallClock() / 1000), restored: true },
  }
}

/** In the background: after 250 ms, then after twice as long each time, up to 15 s, as a commit is repeated. */
export async function emptySpool(store: SpoolingStore, runtime: Runtime, { isEnding, track }: UnderWay): Promise<void> {
  for (let wait = 250; ; wait = Math.min(wait * 2, 15_000)) {
    // Whoever leaves leaves the spool to those who come.
    if (!isEnding() && !(await track(store.carryAllOver(isEnding)))) return
    await pause(runtime, wait * (0.75 + 0.5 * runtime.random()))
  }
}

/** Warns of a spool that fails, once: without it the manager works as if there were none. */
function reporter(): (error: unknown) => void {
  let warned = false
  return (error) => {
    if (warned) return
    warned = true
    const reason = error instanceof StoreError ? error.reason : 'unavailable'
    const message = `The token manager's spool failed (${reason}): what the store refuses is in memory alone.`
    process.emitWarning(message, { type: 'OwnerSsoWarning', code: 'OWNER_SSO_SPOOL' })
  }
}
