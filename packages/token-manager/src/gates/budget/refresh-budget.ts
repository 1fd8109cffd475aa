/**
 * The budget for refreshes: before each refresh request, a place in the budget of its host. A process looks at the windows that all
 * share while somebody waits, reserves places for callers, and claims each when its window has come.
 *
 * Callers reserve places of windows to come, so that they are served in the order of their arrival, whichever process they
 * are in. A place that its owner does not claim soon, because its process died, goes to whoever waits. What nobody waits for
 * takes what is left in the current window.
 */
import { RefreshBudgetError } from '../../errors.ts'
import type { GuardedStore } from '../../store/guarded-store.ts'
import type { Write } from '../../store/lineage.ts'
import { readOwnRecord, refreshBudgetRecordName } from '../../store/own-record.ts'
import type { RefreshBudgetRecord } from '../../store/token-record.ts'
import { isError } from '../../support/callback-fault.ts'
import { elapsed, type Instant, instantOf, pause, type Runtime } from '../../support/runtime.ts'
import { freePlace, isBelievable, opened, type Plan, planFor, together, untouched } from './places.ts'
import { longestWait, placeLife, type RequestBudget, type Windows, windowsOf } from './request-budget.ts'

/**
 * Callers without a working token go first, those before all who were turned away already; then callers who have one; then
 * what nobody waits for.
 */
export const ranks = ['turned away before', 'without a token', 'with a token', 'background'] as const
export type Rank = (typeof ranks)[number]

/** A place in the budget: the moment from which `placeLife` counts. */
export type Place = Instant

export interface RefreshBudget {
  readonly perMinute: number
  /**
   * Waits for a place.
   *
   * @param key - whom it is for; it waits once at a time
   * @param patience - milliseconds; by default what a request may take, and a little for the last place in that time
   * @throws RefreshBudgetError where it would take longer than a request may; StoreError where the store that is shared fails
   */
  place(authUrl: string, key: object, rank: Rank, patience?: number): Promise<Place>
  isUsable(place: Place): boolean
  /** It was not used: whoever is next takes it. */
  giveBack(authUrl: string, place: Place): void
  /** Somebody waits more urgently than before. */
  move(authUrl: string, key: object, rank: Rank): void
}

/** Milliseconds after a look that met another's write, at the most. */
const longestPause = 20
/** Milliseconds that a place waits for its owner, at the most, before others take it in the background; callers do after half. */
const longestGrace = 4000

interface Waiter {
  readonly key: object
  rank: Rank
  /** No place was reserved or refused for it yet. */
  isNew: boolean
  readonly serve: (place: Place) => void
  readonly refuse: (error: Error) => void
}

/** What a process knows of a host's budget, and who waits here. */
interface Host {
  readonly name: string
  readonly store: Pick<GuardedStore, 'read' | 'swap'>
  readonly runtime: Runtime
  readonly figures: Windows
  /** The process is leaving: what nobody waits for is turned away. */
  readonly isEnding: () => boolean
  /** By rank, and within a rank who came first. */
  readonly line: Waiter[]
  /** What was seen last, and by the clock that never runs ahead, when its window and its last claim were first seen. */
  known: RefreshBudgetRecord
  write: Write | undefined
  windowSeen: number | undefined
  claimSeen: number
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
}

/** @param hostOf - the base address that tokens of an instance are refreshed at */
export function createRefreshBudget(
  budget: RequestBudget,
  sharedStore: GuardedStore,
  runtime: Runtime,
  isEnding: () => boolean,
  hostOf: (authUrl: string) => string = (authUrl) => authUrl,
): RefreshBudget {
  const figures = windowsOf(budget)
  const store = budget.scope === 'process' ? ownMemory() : sharedStore
  const hosts = new Map<string, Host>()
  function of(authUrl: string): Host {
    const name = refreshBudgetRecordName(hostOf(authUrl))
    const host = hosts.get(name) ?? newHost(name)
    hosts.set(name, host)
    return host
  }
  const newHost = (name: string): Host => ({
    name,
    store,
    runtime,
    figures,
    isEnding,
    line: [],
    known: untouched,
    write: undefined,
    windowSeen: undefined,
    claimSeen: 0,
    reserved: [],
    atHand: [],
    named: new WeakMap(),
    lastNamed: 0,
    lastClaim: undefined,
    isLooking: false,
    cancelNextLook: undefined,
  })
  return {
    perMinute: budget.perMinute,
    place: (authUrl, key, rank, patience = longestWait + placeLife) => waitForPlace(key, rank, patience, of(authUrl)),
    isUsable: (place) => elapsed(place, instantOf(runtime)) < placeLife,
    giveBack(authUrl, place) {
      const host = of(authUrl)
      host.atHand = [...host.atHand, place]
      handOut(host)
    },
    move(authUrl, key, rank) {
      const host = of(authUrl)
      const waiter = host.line.find((each) => each.key === key)
      if (waiter === undefined || waiter.rank === rank) return
      remove(waiter, host)
      enter(Object.assign(waiter, { rank, isNew: true }), host)
      void look(host)
    },
  }
}

/** A budget that nobody else shares. */
function ownMemory(): Host['store'] {
  const records = new Map<string, Awaited<ReturnType<GuardedStore['read']>>>()
  return {
    read: async (name) => records.get(name),
    async swap(name, over, record, writeId) {
      const written = { version: (over?.version ?? 0) + 1, writeId, record }
      records.set(name, written)
      return written
    },
  }
}

// Waiting for a place

function waitForPlace(key: object, rank: Rank, patience: number, host: Host): Promise<Place> {
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      cancel()
      remove(waiter, host)
    }
    const serve = (place: Place): void => {
      leave()
      resolve(place)
    }
    const refuse = (error: Error): void => {
      leave()
      reject(error)
    }
    const waiter: Waiter = { key, rank, isNew: true, serve, refuse }
    const cancel = host.runtime.after(patience, () => refuse(tooLate(waiter, host)))
    enter(waiter, host)
    handOut(host)
    void look(host)
  })
}

function enter(waiter: Waiter, { line }: Host): void {
  const place = line.findIndex(({ rank }) => ranks.indexOf(rank) > ranks.indexOf(waiter.rank))
  line.splice(place < 0 ? line.length : place, 0, waiter)
}

function remove(waiter: Waiter, { line }: Host): void {
  const place = line.indexOf(waiter)
  if (place >= 0) line.splice(place, 1)
}

function handOut(host: Host): void {
  const { line, runtime } = host
  const now = instantOf(runtime)
  const usable = host.atHand.filter((place) => elapsed(place, now) < placeLife)
  const served = line.slice(0, usable.length)
  host.atHand = usable.slice(served.length)
  for (const [index, waiter] of served.entries()) waiter.serve(usable[index] ?? now)
}

/**
 * Each caller is sent to a place of its own, behind those who were turned away before: all at once would meet the same line
 * again. Who asks again before its time is told the same.
 */
function tooLate({ key, rank }: Waiter, host: Host): RefreshBudgetError {
  const { known, figures, runtime, named } = host
  const [window, number] = freePlace(known, figures.places)
  const free = window * figures.places + number
  let place = Math.max(named.get(key) ?? 0, free)
  if (rank !== 'background' && place === free) {
    place = host.lastNamed = Math.max(host.lastNamed + 1, free)
    named.set(key, place)
  }
  const until = Math.floor(place / figures.places) - known.window
  const wait = until * figures.length - ageOf(host) - (rank === 'background' ? 0 : longestWait)
  return new RefreshBudgetError(Math.ceil((runtime.wallClock() + Math.max(wait, 1000)) / 1000))
}

// Looking at the windows, while somebody waits

async function look(host: Host): Promise<void> {
  const { line } = host
  if (host.isLooking) return
  host.isLooking = true
  host.cancelNextLook?.()
  try {
    // Whoever came meanwhile has not been counted.
    while (line.length > 0 && ((await lookOnce(host)) === 'again' || line.some(({ isNew }) => isNew)));
  } catch (error) {
    for (const waiter of line.slice()) waiter.refuse(isError(error) ? error : new Error('unknown'))
  } finally {
    host.isLooking = false
  }
  if (line.length > 0) lookLater(host)
}

async function lookOnce(host: Host): Promise<'again' | 'later'> {
  const { figures, runtime, line } = host
  const read = await readWindows(host)
  const isDue = ageOf(host) >= figures.length && runtime.monotonicClock() - host.claimSeen >= figures.rest
  const current = isDue ? opened(host.known) : host.known
  host.reserved = host.reserved.filter((window) => window >= current.window)
  handOut(host)

  const counted = line.filter(({ isNew }) => isNew)
  const background = line.filter(({ rank }) => rank === 'background').length
  const waiting = { callers: line.length - background, background }
  const plan = planFor(waiting, current, isDue ? 0 : ageOf(host), host.reserved, figures, graceOf(figures))
  const from = plan.isChange || isDue ? await writeWindows(plan.record, host) : read
  if (from === undefined) {
    await pause(runtime, longestPause * runtime.random())
    return 'again'
  }
  if (isDue || plan.claimed > 0) host.lastClaim = plan.record
  host.reserved = plan.reserved.filter((window) => window > host.known.window)
  host.atHand = [...host.atHand, ...Array.from({ length: plan.claimed }, () => from)]
  handOut(host)
  if (plan.isAgain) return 'again'
  turnAway(plan, counted, host)
  return 'later'
}

/** Those who came last of the ones that were counted, and what nobody waits for where the process is leaving. */
function turnAway({ unserved }: Plan, counted: readonly Waiter[], host: Host): void {
  const { line, isEnding } = host
  for (const waiter of counted) waiter.isNew = false
  const late = line.filter((waiter) => waiter.rank !== 'background' && counted.includes(waiter))
  const left = isEnding() ? line.filter(({ rank }) => rank === 'background') : []
  for (const waiter of [...(unserved > 0 ? late.slice(-unserved) : []), ...left]) waiter.refuse(tooLate(waiter, host))
}

/**
 * When the next window can be opened, or a place is late. Whoever claimed last opens it: others come a little later, and where
 * they find a claim that they had not seen, they look again soon.
 */
function lookLater(host: Host): void {
  const { figures, runtime, lastClaim, known } = host
  const age = ageOf(host)
  // Within it other processes do what they are about to.
  const soon = Math.min(figures.length / 20, 500)
  const untilOld = figures.length - age
  const sinceClaim = runtime.monotonicClock() - host.claimSeen
  const untilNext = untilOld > 0 ? untilOld : Math.min(figures.rest - sinceClaim, soon)
  const grace = graceOf(figures)
  const untilLate = [grace / 2, grace].map((moment) => moment - age).find((wait) => wait > 0)
  const wait = known.used < figures.places && untilLate !== undefined ? Math.min(untilNext, untilLate) : untilNext
  const isOurs = lastClaim?.window === known.window && lastClaim.used === known.used
  const jitter = isOurs ? 0 : soon * runtime.random()
  host.cancelNextLook = runtime.after(Math.max(0, wait) + jitter, () => void look(host))
}

// What all processes share

const graceOf = ({ length }: Windows): number => Math.min(length / 2, longestGrace)

/** Milliseconds for which this process has seen the current window. */
const ageOf = ({ windowSeen, runtime }: Host): number =>
  windowSeen === undefined ? 0 : runtime.monotonicClock() - windowSeen

/** Returns the moment before: at that moment or after it, what was seen was the record. @throws StoreError */
async function readWindows(host: Host): Promise<Instant> {
  const from = instantOf(host.runtime)
  const { name, known, figures } = host
  const stored = await readOwnRecord(name, known, host, (record) => isBelievable(record, figures))
  host.write = stored
  accept(stored === undefined ? known : together(stored.record, known), host)
  return from
}

/** The same; nothing where another process was faster. */
async function writeWindows(next: RefreshBudgetRecord, host: Host): Promise<Instant | undefined> {
  const from = instantOf(host.runtime)
  const swapped = await host.store.swap(host.name, host.write, next, host.runtime.uniqueId())
  if ('conflict' in swapped) return undefined
  host.write = swapped
  accept(next, host)
  return from
}

function accept(record: RefreshBudgetRecord, host: Host): void {
  const now = host.runtime.monotonicClock()
  const isNew = host.windowSeen === undefined || record.window !== host.known.window
  // Windows may have come and gone meanwhile, and places of them with them.
  if (isNew || record.used !== host.known.used) host.claimSeen = now
  if (isNew) host.windowSeen = now
  host.known = record
}
