/**
 * `keepSignedIn`: sees to it that no account of a store loses its session because nobody called.
 *
 * Every process of a fleet may run one. One of them sweeps at a time; the others look now and then whether it is their turn.
 */
import type { Context } from '../driver/context.ts'
import { allSafe } from '../driver/background.ts'
import type { KeeperEvent, SweepCounts } from './keeper-event.ts'
import { contextOf } from '../manager/managed.ts'
import { onAbort } from '../support/abort.ts'
import type { TokenManager } from '../manager/token-manager.ts'
import { createAlarm } from './alarm.ts'
import { claimDesk } from './claim.ts'
import { type KeeperOptions, type KeepOptions, parseKeeperOptions } from './keeper-options.ts'
import { noCounts, sweep, type SweepRun } from './sweep.ts'
import { createTold } from './told.ts'

/** A keeper at work. */
export interface Keeper extends AsyncDisposable {
  /** What it does now, and what its last sweep came to. */
  status(): KeeperStatus
  /**
   * Ends it: nothing new is begun, and what is under way is awaited to its landing, as by `settled()`. Never rejects; the
   * same promise each time.
   */
  stop(): Promise<void>
}

/** What a keeper is doing, and what its sweep has counted so far. */
export interface KeeperStatus extends SweepCounts {
  /** `elsewhere`: another process of the fleet sweeps. */
  readonly state: 'sweeping' | 'waiting' | 'elsewhere' | 'stopped'
  /** Sweeps of this process that came to their end. */
  readonly sweeps: number
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
 * Keeps every account of a token manager's store signed in, until it is stopped; it keeps the process alive as well. Progress is told to `onSweep`. Refreshes go through the manager's budget (`requestBudget`), behind those that somebody
 * waits for.
 *
 * @param tokens - what `createTokenManager` returned; its store must be able to list its accounts
 * @throws TypeError naming what is wrong
 */
export function keepSignedIn(tokens: TokenManager, options: KeeperOptions = {}): Keeper {
  const settings = parseKeeperOptions(options)
  const context = keepableContext(tokens)
  if (!context.background.outlivesCalls) {
    throw new TypeError('tokens was created with background: false: call sweepOnce() from a scheduled job instead')
  }
  const { runtime } = context
  const alarm = createAlarm(runtime)
  const told = createTold(context.emit, tokens)
  const desk = claimDesk(settings.every, context)
  const release = runtime.keepAlive()
  let status: KeeperStatus = { ...noCounts, state: 'waiting', sweeps: 0 }
  let failures = 0

  const tell = (phase: KeeperEvent['phase'], counts: SweepCounts, more: Partial<KeeperEvent> = {}): void => {
    status = { ...status, ...counts, state: 'sweeping' }
    settings.tell({ ...counts, phase, ...more })
  }

  /** Returns milliseconds until the next look. */
  async function look(): Promise<number> {
    const began = runtime.monotonicClock()
    const counts = { ...noCounts }
    try {
      const claim = await desk.ask()
      if ('wait' in claim) {
        failures = 0
        status = { ...status, state: claim.isSwept ? 'elsewhere' : 'waiting' }
        return claim.wait
      }
      const end = await sweep({ context, settings, isPaced: true, claim, alarm, told, tell }, counts)
      failures = 0
      const wait = end === 'whole' ? Math.max(0, settings.every - (runtime.monotonicClock() - began)) : 0
      tell('ended', counts, { next_sweep_at: Math.ceil((runtime.wallClock() + wait) / 1000) })
      status = { ...status, state: 'waiting', sweeps: status.sweeps + (end === 'broken-off' ? 0 : 1) }
      return 0
    } catch (error) {
      failures += 1
      const wait = Math.min(leastPause * 2 ** (failures - 1), longestPause) * (0.75 + 0.5 * runtime.random())
      const next_sweep_at = Math.ceil((runtime.wallClock() + wait) / 1000)
      tell('ended', counts, { error: error instanceof Error ? error : new Error('The sweep failed.'), next_sweep_at })
      status = { ...status, state: 'waiting' }
      return wait
    }
  }

  async function keep(): Promise<void> {
    while (!alarm.isStopped()) await alarm.rest(await look())
    await allSafe(context.memory)
    status = { ...status, state: 'stopped' }
    told.end()
    release()
  }

  const ended = keep()
  const stop = (): Promise<void> => {
    alarm.stop()
    return ended
  }
  return { status: () => status, stop, [Symbol.asyncDispose]: stop }
}

/**
 * One sweep, for a job that a scheduler starts, on a platform that freezes its functions as well. Refreshes are made one
 * after the other, a few side by side; with `requestBudget` as fast as that lets them.
 *
 * @throws TypeError naming what is wrong; StoreError where the store fails
 */
export async function sweepOnce(
  tokens: TokenManager,
  { signal, ...options }: KeepOptions & { readonly signal?: AbortSignal | undefined } = {},
): Promise<SweepResult> {
  const settings = parseKeeperOptions(options)
  const context = keepableContext(tokens)
  const alarm = createAlarm(context.runtime)
  const told = createTold(context.emit, tokens)
  const counts = { ...noCounts }
  const release = context.runtime.keepAlive()
  const tell: SweepRun['tell'] = (phase, counted, more) => settings.tell({ ...counted, phase, ...more })
  const unsubscribe = onAbort(signal, () => alarm.stop())
  try {
    const claim = await claimDesk(0, context).ask()
    if ('wait' in claim) return { swept: false, ...counts }
    const end = await sweep({ context, settings, isPaced: false, claim, alarm, told, tell }, counts)
    tell('ended', counts)
    return { swept: end !== 'broken-off', ...counts }
  } finally {
    if (context.background.runsBetweenCalls) await allSafe(context.memory)
    unsubscribe()
    told.end()
    release()
  }
}

/** @throws TypeError for a manager whose store can't list its accounts */
function keepableContext(tokens: TokenManager): Context {
  const context = contextOf(tokens)
  if (context.store.accounts === undefined) throw new TypeError('store: this token store cannot list its accounts')
  return context
}
