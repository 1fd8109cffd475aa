/**
 * `keepSignedIn`: sees to it that no account of a store loses its session because nobody called.
 *
 * Every process of a fleet may run one. One of them sweeps at a time; the others look now and then whether it is their turn.
 */
import { isError } from '../support/callback-fault.ts'
import type { Context } from '../kernel/context.ts'
import { allSafe } from '../kernel/flight.ts'
import type { Runtime } from '../support/runtime.ts'
import type { KeeperEvent, SweepCounts } from './keeper-event.ts'
import { contextOf } from '../manager/manager.ts'
import { type CallOptions, parseCallOptions } from '../issuer/call-options.ts'
import { checkOptionNames, type OptionNames } from '../support/known-options.ts'
import { onAbort } from '../support/abort.ts'
import type { TokenManager } from '../manager/token-manager.ts'
import { createAlarm } from './alarm.ts'
import { type ClaimDesk, claimDesk } from './claim.ts'
import { type KeeperOptions, type KeepOptions, parseKeeperOptions } from './keeper-options.ts'
import { noCounts, sweep, type SweepRun } from './sweep.ts'
import { createAnnouncements } from './announcements.ts'

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
  checkOptionNames('keepSignedIn', options, { within: true, every: true, refreshTokenLifetime: true, onSweep: true })
  const settings = parseKeeperOptions(options)
  const context = keepableContext(tokens)
  if (!context.work.settings.outlivesCalls) {
    throw new TypeError('tokens was created with background: false: call sweepOnce() from a scheduled job instead')
  }
  const work: Work = {
    context,
    settings,
    alarm: createAlarm(context.runtime),
    announcements: createAnnouncements(context.emit, tokens),
    desk: claimDesk(settings.every, context),
    status: { ...noCounts, state: 'waiting', sweeps: 0 },
    failures: 0,
  }
  const ended = keep(work)
  const stop = (): Promise<void> => {
    work.alarm.stop()
    return ended
  }
  return { status: () => work.status, stop, [Symbol.asyncDispose]: stop }
}

/** A keeper's work, from its beginning to its end. */
interface Work extends Pick<SweepRun, 'context' | 'settings' | 'alarm'> {
  readonly announcements: ReturnType<typeof createAnnouncements>
  readonly desk: ClaimDesk
  status: KeeperStatus
  /** Looks in a row at which the store failed. */
  failures: number
}

async function keep(work: Work): Promise<void> {
  const { context, alarm, announcements } = work
  const release = context.runtime.keepAlive()
  while (!alarm.isStopped()) await alarm.rest(await look(work))
  await allSafe(context.memory)
  work.status = { ...work.status, state: 'stopped' }
  announcements.end()
  release()
}

/** Returns milliseconds until the next look. */
async function look(work: Work): Promise<number> {
  const { context, settings, desk } = work
  const { runtime } = context
  const began = runtime.monotonicClock()
  const counts = { ...noCounts }
  try {
    const claim = await desk.ask()
    if ('wait' in claim) {
      work.failures = 0
      work.status = { ...work.status, state: claim.isSwept ? 'elsewhere' : 'waiting' }
      return claim.wait
    }
    const tell: SweepRun['tell'] = (phase, counted, more) => tellOf(work, phase, counted, more)
    const end = await sweep({ ...work, isPaced: true, claim, tell }, counts)
    work.failures = 0
    const wait = end === 'whole' ? Math.max(0, settings.every - (runtime.monotonicClock() - began)) : 0
    tellOf(work, 'ended', counts, { next_sweep_at: secondsFrom(runtime, wait) })
    const sweeps = work.status.sweeps + (end === 'broken-off' ? 0 : 1)
    work.status = { ...work.status, state: 'waiting', sweeps }
    return 0
  } catch (thrown) {
    work.failures += 1
    const wait = Math.min(leastPause * 2 ** (work.failures - 1), longestPause) * (0.75 + 0.5 * runtime.random())
    const error = isError(thrown) ? thrown : new Error('The sweep failed.')
    tellOf(work, 'ended', counts, { error, next_sweep_at: secondsFrom(runtime, wait) })
    work.status = { ...work.status, state: 'waiting' }
    return wait
  }
}

function tellOf(work: Work, phase: KeeperEvent['phase'], counts: SweepCounts, more: Partial<KeeperEvent> = {}): void {
  work.status = { ...work.status, ...counts, state: 'sweeping' }
  work.settings.tell({ ...counts, phase, ...more })
}

/** Seconds since the epoch, so many milliseconds later. */
const secondsFrom = ({ wallClock }: Pick<Runtime, 'wallClock'>, milliseconds: number): number =>
  Math.ceil((wallClock() + milliseconds) / 1000)

const sweepOptions: OptionNames<KeepOptions & CallOptions> = {
  within: true,
  refreshTokenLifetime: true,
  onSweep: true,
  signal: true,
}

/**
 * One sweep, for a job that a scheduler starts, on a platform that freezes its functions as well. Refreshes are made one
 * after the other, a few side by side; with `requestBudget` as fast as that lets them.
 *
 * @throws TypeError naming what is wrong; StoreError where the store fails
 */
export async function sweepOnce(tokens: TokenManager, options: KeepOptions & CallOptions = {}): Promise<SweepResult> {
  const { signal } = parseCallOptions('sweepOnce(tokens, { signal })', options, undefined, sweepOptions)
  const settings = parseKeeperOptions(options)
  const context = keepableContext(tokens)
  const alarm = createAlarm(context.runtime)
  const announcements = createAnnouncements(context.emit, tokens)
  const counts = { ...noCounts }
  const release = context.runtime.keepAlive()
  const tell: SweepRun['tell'] = (phase, counted, more) => settings.tell({ ...counted, phase, ...more })
  const unsubscribe = onAbort(signal, () => alarm.stop())
  try {
    const claim = await claimDesk(0, context).ask()
    if ('wait' in claim) return { swept: false, ...counts }
    const end = await sweep({ context, settings, isPaced: false, claim, alarm, announcements, tell }, counts)
    tell('ended', counts)
    return { swept: end !== 'broken-off', ...counts }
  } finally {
    if (context.work.runsBetweenCalls) await allSafe(context.memory)
    unsubscribe()
    announcements.end()
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
