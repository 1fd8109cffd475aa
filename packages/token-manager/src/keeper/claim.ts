/**
 * The claim: one process of many sweeps at a time. It stands in a record of the store, is written by swap, and shows
 * that its holder lives. Whoever sees no sign of life for a minute takes over. Two sweeps at the same time would do no harm, since
 * each refresh has an intent of its own; they would only read everything twice.
 */
import type { Context } from '../kernel/context.ts'
import { writeOf } from '../kernel/knowledge.ts'
import { seconds } from '../kernel/steps.ts'
import { isSameWrite, type Write } from '../store/lineage.ts'
import { keeperRecordName, readOwnRecord } from '../store/own-record.ts'
import { elapsed, type Instant, instantOf, type Runtime } from '../support/runtime.ts'
import type { KeeperRecord } from '../store/token-record.ts'

/** Milliseconds between two signs of life, and without one until another process takes over. */
export const signOfLifeEvery = 15_000
const claimLife = 60_000
/** Milliseconds that the clocks of a fleet may differ by. */
const clockSkew = 5 * 60_000
/** Milliseconds until another look where nothing is due: a machine that was suspended notices by then. */
const longestWait = 5 * 60_000

export interface Claim {
  /** Shows that this process lives, where that is due or the store is doubted. False once another process has taken over. @throws StoreError */
  goesOn(isDoubted?: boolean): Promise<boolean>
  /** Gives it up. After a whole sweep the next one is due `every` after its beginning. @throws StoreError */
  release(isSwept: boolean): Promise<void>
}

export interface ClaimDesk {
  /** Or milliseconds until another look, where another process sweeps, or nobody has to yet. @throws StoreError */
  ask(): Promise<Claim | number>
}

const unclaimed: KeeperRecord = { schema: 1, state: 'keeper', signs: 0, swept_at: 0 }

interface Sightings {
  /** The last sign of life. */
  readonly sign: (Write & { readonly at: Instant }) | undefined
  /** The last sweep that came to its end: what the record says of its beginning, and when that was by our own clocks. */
  readonly swept: { readonly told: number; readonly began: Instant } | undefined
  /** The last look that saw nobody at it. */
  readonly idle: Instant | undefined
}

type Surroundings = Pick<Context, 'store' | 'runtime'>

/** @param every - milliseconds between two sweeps; 0: one is always due */
export function claimDesk(every: number, surroundings: Surroundings): ClaimDesk {
  const { store, runtime } = surroundings
  let seen: Sightings = { sign: undefined, swept: undefined, idle: undefined }

  async function look(): Promise<Stored | undefined> {
    try {
      const stored = await readOwnRecord(keeperRecordName, unclaimed, surroundings)
      if (stored !== undefined) seen = withSightOf(stored, seen, every, instantOf(runtime))
      return stored
    } catch (error) {
      // The holder can't show that it lives either: its time begins anew when the store is back.
      seen = { ...seen, sign: undefined }
      throw error
    }
  }

  return {
    async ask() {
      const stored = await look()
      if (stored && isHeld(stored.record, seen, every, runtime)) return signOfLifeEvery
      const began = instantOf(runtime)
      const wait = stored && seen.swept ? every - elapsed(seen.swept.began, began) : 0
      if (wait > 0) return Math.min(wait, longestWait)
      const { holder } = runtime
      const swept_at = stored?.record.swept_at ?? 0
      const record: KeeperRecord = { schema: 1, state: 'keeper', holder, signs: 0, at: seconds(began), swept_at }
      const swapped = await store.swap(keeperRecordName, stored, record, runtime.uniqueId(), { forgetOlder: true })
      if ('conflict' in swapped) return signOfLifeEvery
      const onSwept = (told: number): void => void (seen = { ...seen, swept: { told, began } })
      return claimOf(writeOf(swapped), record, began, onSwept, surroundings)
    },
  }
}

interface Stored extends Write {
  readonly record: KeeperRecord
}

/**
 * The clock of who swept tells when that began. Where we looked before and after, it was between these looks, whatever the
 * clocks; else a clock that was ahead by more than the interval holds nobody back.
 */
function withSightOf(stored: Stored, { sign, swept, idle }: Sightings, every: number, now: Instant): Sightings {
  const { holder, swept_at: told } = stored.record
  const since = now.wall - told * 1000
  const unknown = since < -every ? every : since
  const sinceBegan = Math.max(0, idle === undefined ? unknown : Math.min(since, elapsed(idle, now)))
  return {
    sign: sign && isSameWrite(sign, stored) ? sign : { ...writeOf(stored), at: now },
    swept: swept?.told === told ? swept : { told, began: ago(sinceBegan, now) },
    idle: holder === undefined || idle === undefined ? now : idle,
  }
}

/**
 * By the monotonic clock from the first sight of its last sign of life: no clock that jumps ends a claim. Who looks only once,
 * for one sweep, has the holder's clock alone: else a holder that was killed would hold it for ever.
 */
function isHeld({ holder, at = 0 }: KeeperRecord, { sign }: Sightings, every: number, runtime: Runtime): boolean {
  if (holder === undefined || runtime.livenessOf(holder) === 'dead') return false
  if (every === 0) return Math.abs(runtime.wallClock() - at * 1000) < claimLife + clockSkew
  return sign !== undefined && runtime.monotonicClock() - sign.at.monotonic < claimLife
}

/** @param onSwept - told the beginning of a sweep that came to its end */
function claimOf(
  claimed: Write,
  record: KeeperRecord,
  began: Instant,
  onSwept: (told: number) => void,
  { store, runtime }: Surroundings,
): Claim {
  let held: Write | undefined = claimed
  let shown = began
  let { signs } = record
  const write = async (next: KeeperRecord): Promise<boolean> => {
    shown = instantOf(runtime)
    const swapped = await store.swap(keeperRecordName, held, next, runtime.uniqueId(), { forgetOlder: true })
    held = 'conflict' in swapped ? undefined : swapped
    return held !== undefined
  }
  return {
    async goesOn(isDoubted = false) {
      if (held === undefined) return false
      if (!isDoubted && elapsed(shown, instantOf(runtime)) < signOfLifeEvery) return true
      return write({ ...record, signs: (signs += 1), at: seconds(instantOf(runtime)) })
    },
    async release(isSwept) {
      if (held === undefined) return
      const swept_at = isSwept ? seconds(began) : record.swept_at
      if (isSwept) onSwept(swept_at)
      await write({ schema: 1, state: 'keeper', signs: 0, swept_at })
    },
  }
}

/** The moment so many milliseconds before. */
const ago = (milliseconds: number, { wall, monotonic }: Instant): Instant => ({
  wall: wall - milliseconds,
  monotonic: monotonic - milliseconds,
})
