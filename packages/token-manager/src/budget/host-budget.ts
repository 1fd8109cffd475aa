/**
 * The budget of one host, as one process takes part in it: it looks at the shared windows while somebody waits, reserves
 * places for callers, and claims each when its window has come.
 *
 * Callers reserve places of windows to come, so that they are served in the order of their arrival, whichever process they
 * are in. A place that its owner does not claim soon, because its process died, goes to whoever waits. What nobody waits for
 * takes what is left in the current window.
 */
import { RefreshBudgetError } from '../errors.ts'
import { elapsed, instantOf, type Runtime } from '../support/runtime.ts'
import type { RefreshBudgetRecord } from '../store/token-record.ts'
import { freePlace, opened, reservePlaces } from './places.ts'
import { longestWait, placeLife, type Windows } from './request-budget.ts'
import type { Look, SharedWindows } from './shared-windows.ts'
import { createWaitingLine, type Place, type Rank, type Waiter } from './waiting-line.ts'

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

interface Surroundings {
  readonly windows: SharedWindows
  readonly figures: Windows
  readonly runtime: Runtime
  /** The process is leaving: what nobody waits for is turned away. */
  readonly isEnding: () => boolean
}

export function createHostBudget({ windows, figures, runtime, isEnding }: Surroundings): HostBudget {
  const line = createWaitingLine()
  /** Those for whom no place was reserved or refused yet. */
  const newcomers = new Set<Waiter>()
  /** The windows of our places that we have yet to claim, and the places that can be used now. */
  let reserved: readonly number[] = []
  let atHand: readonly Place[] = []
  /** The places that were named to those who were turned away, counted through all windows, and the last of them. */
  const named = new WeakMap<object, number>()
  let lastNamed = 0
  /** Our last claim: the record as it was then. */
  let lastClaim: RefreshBudgetRecord | undefined
  let isLooking = false
  let cancelNextLook: (() => void) | undefined

  /** The same, within these windows. */
  const grace = Math.min(figures.length / 2, longestGrace)
  /** Milliseconds within which other processes do what they are about to. */
  const soon = Math.min(figures.length / 20, 500)
  const isAwaited = (): boolean => line.count('callers') + line.count('background') > 0
  const isOver = (place: Place): boolean => elapsed(place, instantOf(runtime)) >= placeLife

  function handOut(): void {
    const usable = atHand.filter((place) => !isOver(place))
    for (let place = usable.shift(); place !== undefined; place = usable.shift()) {
      const waiter = line.next()
      if (waiter === undefined) {
        usable.unshift(place)
        break
      }
      waiter.serve(place)
    }
    atHand = usable
  }

  async function look(): Promise<void> {
    if (isLooking) return
    isLooking = true
    cancelNextLook?.()
    try {
      // Whoever came meanwhile has not been counted.
      while (isAwaited() && ((await lookOnce()) === 'again' || newcomers.size > 0));
    } catch (error) {
      for (const waiter of line.all()) waiter.refuse(error instanceof Error ? error : new Error('unknown'))
    } finally {
      isLooking = false
    }
    if (isAwaited()) lookLater()
  }

  async function lookOnce(): Promise<'again' | 'later'> {
    const before = await windows.read()
    const isDue = windows.age() >= figures.length && windows.rest() >= figures.rest
    const current = isDue ? opened(before.record) : before.record
    reserved = reserved.filter((window) => window >= current.window)
    handOut()

    const counted = new Set(newcomers)
    const [callers, background] = [line.count('callers'), line.count('background')]
    const wanted = Math.max(0, callers - reserved.length)
    const age = isDue ? 0 : windows.age()
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
    const record = { ...forOthers.record, used: current.used + claimed }

    const isChanged = claimed > 0 || forOthers.record !== before.record
    const after = isChanged ? await windows.write(record) : before
    if (after === undefined) {
      await new Promise<void>((resolve) => runtime.after(longestPause * runtime.random(), resolve))
      return 'again'
    }
    if (isDue || claimed > 0) lastClaim = record
    keep(all, claimed, after)
    if (!isServed && forCallers.windows.length === batch) return 'again'
    turnAway(wanted - forCallers.windows.length, counted)
    return 'later'
  }

  function keep(all: readonly number[], claimed: number, { record, from }: Look): void {
    reserved = all.filter((window) => window > record.window)
    atHand = [...atHand, ...Array.from({ length: claimed }, () => from)]
    handOut()
  }

  /** Those who came last of the ones that were counted, and what nobody waits for where the process is leaving. */
  function turnAway(count: number, counted: ReadonlySet<Waiter>): void {
    for (const waiter of counted) newcomers.delete(waiter)
    if (count > 0) {
      const late = line.all().filter((waiter) => waiter.rank !== 'background' && counted.has(waiter))
      for (const waiter of late.slice(-count)) waiter.refuse(tooLate(waiter))
    }
    if (!isEnding()) return
    for (const waiter of line.all()) if (waiter.rank === 'background') waiter.refuse(tooLate(waiter))
  }

  /**
   * Each caller is sent to a place of its own, behind those who were turned away before: all at once would meet the same line
   * again. Who asks again before its time is told the same.
   */
  function tooLate({ key, rank }: Pick<Waiter, 'key' | 'rank'>): RefreshBudgetError {
    const record = windows.known()
    const [window, number] = freePlace(record, figures.places)
    const free = window * figures.places + number
    let place = Math.max(named.get(key) ?? 0, free)
    if (rank !== 'background' && place === free) {
      place = lastNamed = Math.max(lastNamed + 1, free)
      named.set(key, place)
    }
    const until = Math.floor(place / figures.places) - record.window
    const wait = until * figures.length - windows.age() - (rank === 'background' ? 0 : longestWait)
    return new RefreshBudgetError(Math.ceil((runtime.wallClock() + Math.max(wait, 1000)) / 1000))
  }

  /**
   * When the next window can be opened, or a place is late. Whoever claimed last opens it: others come a little later, and where
   * they find a claim that they had not seen, they look again soon.
   */
  function lookLater(): void {
    const { window, used } = windows.known()
    const untilOld = figures.length - windows.age()
    const untilNext = untilOld > 0 ? untilOld : Math.min(figures.rest - windows.rest(), soon)
    const untilLate = [grace / 2, grace].map((moment) => moment - windows.age()).find((wait) => wait > 0)
    const wait = used < figures.places && untilLate !== undefined ? Math.min(untilNext, untilLate) : untilNext
    const isOurs = lastClaim?.window === window && lastClaim.used === used
    const jitter = isOurs ? 0 : soon * runtime.random()
    cancelNextLook = runtime.after(Math.max(0, wait) + jitter, () => void look())
  }

  return {
    place: (key, rank, patience) =>
      new Promise((resolve, reject) => {
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
        const cancel = runtime.after(patience, () => waiter.refuse(tooLate(waiter)))
        line.add(waiter)
        newcomers.add(waiter)
        handOut()
        void look()
      }),
    giveBack(place) {
      atHand = [...atHand, place]
      handOut()
    },
    move(key, rank) {
      const waiter = line.move(key, rank)
      if (waiter === undefined) return
      newcomers.add(waiter)
      void look()
    },
  }
}
