/**
 * The budget of one host, as one process takes part in it: it looks at the shared windows while somebody waits, reserves
 * places for callers, and hands each out when its window has come.
 *
 * Callers reserve places of windows to come, so that they are served in the order of their arrival, whichever process they
 * are in. What nobody waits for takes what is left in the current window.
 */
import { RefreshBudgetError } from '../errors.ts'
import { elapsed, instantOf, type Runtime } from '../support/runtime.ts'
import { freePlace, opened, takePlaces } from './places.ts'
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
  /** The windows of our places that have yet to come, and the places that can be used now. */
  let reserved: readonly number[] = []
  let atHand: readonly Place[] = []
  let openedByUs: number | undefined
  /** The places that were named to those who were turned away, counted through all windows, and the last of them. */
  const named = new WeakMap<object, number>()
  let lastNamed = 0
  let isLooking = false
  let cancelNextLook: (() => void) | undefined

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
    const isDue = windows.age() >= figures.length
    const current = isDue ? opened(before.record) : before.record
    reserved = reserved.filter((window) => window >= current.window)
    handOut()

    const counted = new Set(newcomers)
    const wanted = Math.max(0, line.count('callers') - reserved.length)
    const reachable = current.window + Math.floor((longestWait + (isDue ? 0 : windows.age())) / figures.length)
    const forCallers = takePlaces(current, Math.min(wanted, batch), reachable, figures.places)
    const isServed = forCallers.windows.length === wanted
    const spare = isServed ? Math.min(line.count('background'), batch) : 0
    const { windows: inAddition, record } = takePlaces(forCallers.record, spare, current.window, figures.places)

    const after = record === before.record ? before : await windows.write(record)
    if (after === undefined) {
      await new Promise<void>((resolve) => runtime.after(longestPause * runtime.random(), resolve))
      return 'again'
    }
    if (isDue) openedByUs = record.window
    keep([...forCallers.windows, ...inAddition], after)
    if (!isServed && forCallers.windows.length === batch) return 'again'
    turnAway(wanted - forCallers.windows.length, counted)
    return 'later'
  }

  function keep(taken: readonly number[], { record, from }: Look): void {
    const all = [...reserved, ...taken]
    reserved = all.filter((window) => window > record.window)
    atHand = [...atHand, ...all.filter((window) => window === record.window).map(() => from)]
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

  /** When the next window can be opened; a little later where another process is about to open it. */
  function lookLater(): void {
    const isOurs = openedByUs === windows.known().window && reserved.length > 0
    const jitter = isOurs ? 0 : Math.min(figures.length / 20, 500) * runtime.random()
    cancelNextLook = runtime.after(Math.max(0, figures.length - windows.age()) + jitter, () => void look())
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
