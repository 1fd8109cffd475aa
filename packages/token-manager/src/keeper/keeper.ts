/**
 * `keepSignedIn` and `sweepOnce`: no account of a store loses its session because nobody called.
 *
 * Every process of a fleet may run a keeper. One of them sweeps at a time; the others look now and then whether it is their turn.
 */
import { type CallOptions, parseCallOptions } from '../issuer/call-options.ts'
import type { Context } from '../kernel/context.ts'
import { allSafe } from '../kernel/flight.ts'
import { contextOf } from '../manager/manager.ts'
import type { TokenManager } from '../manager/token-manager.ts'
import { onAbort } from '../support/abort.ts'
import { isError } from '../support/callback-fault.ts'
import { recentEntries } from '../support/recent-entries.ts'
import { type Alarm, createAlarm } from '../support/alarm.ts'
import { claimDesk } from './claim.ts'
import {
  type KeeperOptions,
  keeperRows,
  type KeeperSettings,
  type KeepOptions,
  parseKeeperOptions,
  type SweepCounts,
  sweepRows,
} from './keeper-options.ts'
import type { Announce } from './survey.ts'
import { noCounts, sweep } from './sweep.ts'

/** A keeper at work. */
export interface Keeper extends AsyncDisposable {
  /**
   * Ends it: nothing new is begun, and what is under way is awaited to its landing, as by `settled()`. Never rejects; the
   * same promise each time.
   */
  stop(): Promise<void>
}

/** What a single sweep came to. */
export interface SweepResult extends SweepCounts {
  /** False where it was ended by its signal, or another process of the fleet is at it: then all counts are 0. */
  readonly swept: boolean
}

/** Milliseconds until the next try where the store fails, at the least and at the most. */
const leastPause = 5_000
const longestPause = 60_000

/**
 * Keeps every account of a token manager's store signed in, until it is stopped; it keeps the process alive as well. Progress is
 * told to `onSweep`. Refreshes go through the manager's budget (`requestBudget`), behind those that somebody waits for.
 *
 * @param tokens - what `createTokenManager` returned; its store must be able to list its accounts
 * @throws TypeError naming what is wrong
 */
export function keepSignedIn(tokens: TokenManager, options: KeeperOptions = {}): Keeper {
  const settings = parseKeeperOptions('keepSignedIn', options, keeperRows)
  const context = keepableContext(tokens)
  if (!context.work.settings.outlivesCalls) {
    throw new TypeError('tokens was created with background: false: call sweepOnce() from a scheduled job instead')
  }
  const alarm = createAlarm(context.runtime)
  const ended = keep(tokens, context, settings, alarm)
  const stop = (): Promise<void> => {
    alarm.stop()
    return ended
  }
  return { stop, [Symbol.asyncDispose]: stop }
}

async function keep(tokens: TokenManager, context: Context, settings: KeeperSettings, alarm: Alarm): Promise<void> {
  const { runtime, memory } = context
  const release = runtime.keepAlive()
  const [announce, end] = announcer(tokens, context)
  const desk = claimDesk(settings.every, context)
  /** Looks in a row at which the store failed. */
  let failures = 0
  while (!alarm.isStopped()) {
    const began = runtime.monotonicClock()
    const counts = { ...noCounts }
    let rest = 0
    try {
      const claim = await desk.ask()
      if (typeof claim === 'number') rest = claim
      else {
        const swept = await sweep({ context, settings, isPaced: true, claim, alarm, announce, counts })
        const wait = swept === 'whole' ? Math.max(0, settings.every - (runtime.monotonicClock() - began)) : 0
        settings.tell({ ...counts, phase: 'ended', next_sweep_at: secondsFrom(wait, context) })
      }
      failures = 0
    } catch (thrown) {
      failures += 1
      rest = Math.min(leastPause * 2 ** (failures - 1), longestPause) * (0.75 + 0.5 * runtime.random())
      const error = isError(thrown) ? thrown : new Error('The sweep failed.')
      settings.tell({ ...counts, phase: 'ended', error, next_sweep_at: secondsFrom(rest, context) })
    }
    await alarm.rest(rest)
  }
  await allSafe(memory)
  end()
  release()
}

const secondsFrom = (milliseconds: number, { runtime }: Context): number =>
  Math.ceil((runtime.wallClock() + milliseconds) / 1000)

/**
 * One sweep, for a job that a scheduler starts, on a platform that freezes its functions as well. Refreshes are made one
 * after the other, a few side by side; with `requestBudget` as fast as that lets them.
 *
 * @throws TypeError naming what is wrong; StoreError where the store fails
 */
export async function sweepOnce(tokens: TokenManager, options: KeepOptions & CallOptions = {}): Promise<SweepResult> {
  const settings = parseKeeperOptions('sweepOnce', options, sweepRows)
  const { signal } = parseCallOptions('sweepOnce(tokens, { signal })', { signal: options.signal })
  const context = keepableContext(tokens)
  const { runtime, memory, work } = context
  const alarm = createAlarm(runtime)
  const [announce, end] = announcer(tokens, context)
  const counts = { ...noCounts }
  const release = runtime.keepAlive()
  const unsubscribe = onAbort(signal, () => alarm.stop())
  try {
    const claim = await claimDesk(0, context).ask()
    if (typeof claim === 'number') return { swept: false, ...counts }
    const swept = await sweep({ context, settings, isPaced: false, claim, alarm, announce, counts })
    settings.tell({ ...counts, phase: 'ended' })
    return { swept: swept !== 'broken-off', ...counts }
  } finally {
    if (work.runsBetweenCalls) await allSafe(memory)
    unsubscribe()
    end()
    release()
  }
}

/** @throws TypeError for a manager that makes no refreshes, or whose store can't list its accounts */
function keepableContext(tokens: TokenManager): Context {
  const context = contextOf(tokens)
  if (context.work.settings.refreshesElsewhere) {
    throw new TypeError(
      "tokens was created with refresh: 'elsewhere': keep accounts signed in where they are refreshed",
    )
  }
  if (context.store.accounts === undefined) throw new TypeError('store: this token store cannot list its accounts')
  return context
}

/** Accounts that are remembered: some megabytes. */
const remembered = 50_000

/** Emits `reauthentication-required`, once for the same tokens and not in every sweep; and ends that. */
function announcer(tokens: TokenManager, { emit }: Context): [announce: Announce, end: () => void] {
  const known = recentEntries<string>(remembered)
  const anyLineage = ''
  // What this process's own refreshes told: their records are not read again before the next sweep.
  let isOurs = false
  const end = tokens.on('reauthentication-required', ({ account }) => {
    if (!isOurs) known.set(account, anyLineage)
  })
  const announce: Announce = (account, { lineage, reason }) => {
    const before = known.get(account)
    known.set(account, lineage)
    if (before === lineage || before === anyLineage) return
    isOurs = true
    void emit('reauthentication-required', { account, reason })
    isOurs = false
  }
  return [announce, end]
}
