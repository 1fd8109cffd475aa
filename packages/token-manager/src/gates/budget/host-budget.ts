/**
 * The budget of one host, as one process takes part in it: it looks at the shared windows while somebody waits, reserves
 * places for callers, and claims each when its window has come.
 *
 * Callers reserve places of windows to come, so that they are served in the order of their arrival, whichever process they
 * are in. A place that its owner does not claim soon, because its process died, goes to whoever waits. What nobody waits for
 * takes what is left in the current window.
 */
import { isError } from '../../support/callback-fault.ts'
import { RefreshBudgetError } from '../../errors.ts'
import { elapsed, instantOf, type Runtime } from '../../support/runtime.ts'
import type { RefreshBudgetRecord } from '../../store/token-record.ts'
import { freePlace, opened, reservePlaces } from './places.ts'
import { longestWait, placeLife, type Windows } from './request-budget.ts'
import type { Look, SharedWindows } from './shared-windows.ts'
import { createWaitingLine, type Place, type Rank, type Waiter, type WaitingLine } from './waiting-line.ts'

export interface HostBudget {
  /**
   * @param patience - milliseconds
   * @throws RefreshBudgetError where it would take too long; StoreError
   */
  place(key: object, rank: Rank, patience: number): Promise<Place>
  /** It was not used: whoever is next takes it. */
  giveBack(place: Place): void
  /** Somebody waits more urgently than before. */
  move(key: object, rank: Rank): void
}

/** Places that are taken at once at the most, so that no process takes all there are before another has looked. */
const batch = 16
/** Milliseconds that a place waits for its owner, at the most, before others take it in the background; callers do after half. */
const longestGrace = 4000
/** Milliseconds after a look that met another's write, at the most. */
const longestPause = 20

/** What a process knows of a host's budget, and who waits here. */
interface Host extends Surroundings {
  readonly line: WaitingLine
  /** Those for whom no place was reserved or refused yet. */
  readonly newcomers: Set<Waiter>
  /** The windows of our places that we have yet to claim, and the places that can be used now. */
  reserved: readonly number[]
  atHand: readonly Place[]
  /** The places that were named to those who were turned away, counted through all windows, and the last of them. */
  readonly named: WeakMap<object, number>
  lastNamed: number
  /** Our last claim: the record as it was then. */
  lastClaim: RefreshBudgetRecord | undefined
  isLooking: boolean
  cancelNextLook: (() => void) | undefined
  /** Milliseconds that a place waits for its owner in these windows. */
  readonly grace: number
  /** Milliseconds within which other processes do what they are about to. */
  readonly soon: number
}

interface Surroundings {
  readonly windows: SharedWindows
  readonly figures: Windows
  readonly runtime: Runtime
  /** The process is leaving: what nobody waits for is turned away. */
  readonly isEnding: () => boolean
}

export function createHostBudget({ windows, figures, runtime, isEnding }: Surroundings): HostBudget {
  const host: Host = {
    windows,
    figures,
    runtime,
    isEnding,
    line: createWaitingLine(),
    newcomers: new Set(),
    reserved: [],
    atHand: [],
    named: new WeakMap(),
    lastNamed: 0,
    lastClaim: undefined,
    isLooking: false,
    cancelNextLook: undefined,
    grace: Math.min(figures.length / 2, longestGrace),
    soon: Math.min(figures.length / 20, 500),
  }
  return {
    place: (key, rank, patience) => waitForPlace(key, rank, patience, host),
    giveBack(place) {
      host.atHand = [...host.atHand, place]
      handOut(host)
    },
    move(key, rank) {
      const waiter = host.line.move(key, rank)
      if (waiter === undefined) return
      host.newcomers.add(waiter)
      void look(host)
    },
  }
}

// Waiting for a place

function waitForPlace(key: object, rank: Rank, patience: number, host: Host): Promise<Place> {
  const { line, newcomers, runtime } = host
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      cancel()
      line.remove(waiter)
      newcomers.delete(waiter)
    }
    const waiter: Waiter = {
      key,
      rank,
      serve: (place) => {
        leave()
        resolve(place)
      },
      refuse: (error) => {
        leave()
        reject(error)
      },
    }
    const cancel = runtime.after(patience, () => waiter.refuse(tooLate(waiter, host)))
    line.add(waiter)
    newcomers.add(waiter)
    handOut(host)
    void look(host)
  })
}

function handOut(host: Host): void {
  const { line, runtime } = host
  const now = instantOf(runtime)
  const usable = host.atHand.filter((place) => elapsed(place, now) < placeLife)
  for (let place = usable.shift(); place !== undefined; place = usable.shift()) {
    const waiter = line.next()
    if (waiter === undefined) {
      usable.unshift(place)
      break
    }
    waiter.serve(place)
  }
  host.atHand = usable
}

/**
 * Each caller is sent to a place of its own, behind those who were turned away before: all at once would meet the same line
 * again. Who asks again before its time is told the same.
 */
function tooLate({ key, rank }: Pick<Waiter, 'key' | 'rank'>, host: Host): RefreshBudgetError {
  const { windows, figures, runtime, named } = host
  const record = windows.known()
  const [window, number] = freePlace(record, figures.places)
  const free = window * figures.places + number
  let place = Math.max(named.get(key) ?? 0, free)
  if (rank !== 'background' && place === free) {
    place = host.lastNamed = Math.max(host.lastNamed + 1, free)
    named.set(key, place)
  }
  const until = Math.floor(place / figures.places) - record.window
  const wait = until * figures.length - windows.age() - (rank === 'background' ? 0 : longestWait)
  return new RefreshBudgetError(Math.ceil((runtime.wallClock() + Math.max(wait, 1000)) / 1000))
}

// Looking at the windows, while somebody waits

const isAwaited = ({ line }: Host): boolean => line.count('callers') + line.count('background') > 0

async function look(host: Host): Promise<void> {
  if (host.isLooking) return
  host.isLooking = true
  host.cancelNextLook?.()
  try {
    // Whoever came meanwhile has not been counted.
    while (isAwaited(host) && ((await lookOnce(host)) === 'again' || host.newcomers.size > 0));
  } catch (error) {
    for (const waiter of host.line.all()) waiter.refuse(isError(error) ? error : new Error('unknown'))
  } finally {
    host.isLooking = false
  }
  if (isAwaited(host)) lookLater(host)
}

async function lookOnce(host: Host): Promise<'again' | 'later'> {
  const { windows, figures, runtime, line } = host
  const before = await windows.read()
  const isDue = windows.age() >= figures.length && windows.rest() >= figures.rest
  const current = isDue ? opened(before.record) : before.record
  host.reserved = host.reserved.filter((window) => window >= current.window)
  handOut(host)

  const counted = new Set(host.newcomers)
  const waiting = { callers: line.count('callers'), background: line.count('background') }
  const plan = planFor(waiting, current, isDue ? 0 : windows.age(), host)
  const after = plan.isChange || isDue ? await windows.write(plan.record) : before
  if (after === undefined) {
    await new Promise<void>((resolve) => runtime.after(longestPause * runtime.random(), resolve))
    return 'again'
  }
  if (isDue || plan.claimed > 0) host.lastClaim = plan.record
  keep(plan, after, host)
  if (plan.isAgain) return 'again'
  turnAway(plan.unserved, counted, host)
  return 'later'
}

/** What a look comes to: what is reserved and claimed, and how many callers there is no place for. */
interface Plan {
  readonly record: RefreshBudgetRecord
  readonly isChange: boolean
  /** The windows of all our places. */
  readonly reserved: readonly number[]
  /** How many are claimed in the current window. */
  readonly claimed: number
  readonly unserved: number
  /** More callers can be served by another look. */
  readonly isAgain: boolean
}

/** @param age - of the current window, in milliseconds */
function planFor(
  { callers, background }: { readonly callers: number; readonly background: number },
  current: RefreshBudgetRecord,
  age: number,
  { figures, reserved, grace }: Host,
): Plan {
  const wanted = Math.max(0, callers - reserved.length)
  const reachable = current.window + Math.floor((longestWait + age) / figures.length)
  const forCallers = reservePlaces(current, Math.min(wanted, batch), reachable, figures.places)
  const isServed = forCallers.windows.length === wanted
  const spare = isServed ? Math.min(background, batch) : 0
  const forOthers = reservePlaces(forCallers.record, spare, current.window, figures.places)

  const all = [...reserved, ...forCallers.windows]
  const due = all.filter((window) => window === current.window).length
  const unclaimed = figures.places - current.used
  const byCallers = Math.min(age >= grace / 2 ? callers : due, callers, unclaimed)
  const byOthers = Math.min(age >= grace ? background : forOthers.windows.length, unclaimed - byCallers)
  const claimed = byCallers + byOthers
  return {
    record: { ...forOthers.record, used: current.used + claimed },
    isChange: claimed > 0 || forOthers.record !== current,
    reserved: all,
    claimed,
    unserved: wanted - forCallers.windows.length,
    isAgain: !isServed && forCallers.windows.length === batch,
  }
}

function keep({ reserved, claimed }: Plan, { record, from }: Look, host: Host): void {
  host.reserved = reserved.filter((window) => window > record.window)
  host.atHand = [...host.atHand, ...Array.from({ length: claimed }, () => from)]
  handOut(host)
}

/** Those who came last of the ones that were counted, and what nobody waits for where the process is leaving. */
function turnAway(count: number, counted: ReadonlySet<Waiter>, host: Host): void {
  const { line, newcomers, isEnding } = host
  for (const waiter of counted) newcomers.delete(waiter)
  if (count > 0) {
    const late = line.all().filter((waiter) => waiter.rank !== 'background' && counted.has(waiter))
    for (const waiter of late.slice(-count)) waiter.refuse(tooLate(waiter, host))
  }
  if (!isEnding()) return
  for (const waiter of line.all()) if (waiter.rank === 'background') waiter.refuse(tooLate(waiter, host))
}

/**
 * When the next window can be opened, or a place is late. Whoever claimed last opens it: others come a little later, and where
 * they find a claim that they had not seen, they look again soon.
 */
function lookLater(host: Host): void {
  const { windows, figures, runtime, grace, soon, lastClaim } = host
  const { window, used } = windows.known()
  const untilOld = figures.length - windows.age()
  const untilNext = untilOld > 0 ? untilOld : Math.min(figures.rest - windows.rest(), soon)
  const untilLate = [grace / 2, grace].map((moment) => moment - windows.age()).find((wait) => wait > 0)
  const wait = used < figures.places && untilLate !== undefined ? Math.min(untilNext, untilLate) : untilNext
  const isOurs = lastClaim?.window === window && lastClaim.used === used
  const jitter = isOurs ? 0 : soon * runtime.random()
  host.cancelNextLook = runtime.after(Math.max(0, wait) + jitter, () => void look(host))
}
