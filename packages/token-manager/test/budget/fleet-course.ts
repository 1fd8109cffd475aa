/** What a simulated fleet goes through: everybody signs in, days of everyday work, then an outage and what follows. And its figures. */
import { type FleetOptions, startFleet } from './fleet.ts'

export interface FleetCourse extends FleetOptions {
  /** Seconds before the everyday work is looked at; they begin with the time in which everybody signs in. */
  readonly settle: number
  /** Seconds of everyday work. */
  readonly steady: number
  /** Seconds for which the service is away. */
  readonly outage: number
}

export interface FleetFigures {
  /** Refresh requests in an everyday minute, and in the busiest of them. */
  readonly mean: number
  readonly peak: number
  /** The most in any 60 s, from the beginning to the end. */
  readonly mostInAMinute: number
  /** Refresh requests in all. */
  readonly requests: number
  readonly replays: number
  /** Accounts whose owner has to sign in again. */
  readonly lost: number
  /** Access tokens that somebody needs and that ended on an everyday day before new ones came. */
  readonly ended: number
  /** How everyday calls ended, and those while the service was away: by token or code. */
  readonly everyday: Readonly<Record<string, number>>
  readonly away: Readonly<Record<string, number>>
  /** Seconds that the budget needs for one refresh of every account whose access token is to work. */
  readonly need: number
  /** Seconds from the end of the outage until every call got a token. */
  readonly working: number
  /** Those whose access token had ended by then: of those in use, and of those that nobody asks for. */
  readonly used: Waits
  readonly unused: Waits
}

/** Seconds from the end of the outage until accounts had new tokens: half of them, and all. */
export interface Waits {
  readonly half: number
  readonly all: number
}

/** What has happened since the beginning. */
export type FleetTally = Pick<FleetFigures, 'requests' | 'replays' | 'lost'>

const day = 24 * 3600

/** @param tell - told of each part of the course that begins, and of what happened before it; everyday work is told of day by day */
export async function runFleet(
  course: FleetCourse,
  tell: (part: string, before: FleetTally) => void = () => undefined,
): Promise<FleetFigures> {
  const { accounts, used, session, life, requestBudget, settle, steady, outage } = course
  const fleet = await startFleet(course)
  const { traffic, issued, firstIssued, isUsed, isKeptFresh } = fleet
  const tally = (): FleetTally => ({ requests: traffic.all(), replays: fleet.replays(), lost: fleet.lost() })
  tell('sign in', tally())
  await fleet.run(settle)
  const from = fleet.now()
  fleet.outcomes()
  fleet.ended()
  for (let done = 0; done < steady; done += day) {
    tell(`everyday, from day ${done / day + 1}`, tally())
    await fleet.run(Math.min(day, steady - done))
  }
  const minutes = traffic.minutes(from, fleet.now())
  const everyday = { everyday: fleet.outcomes(), ended: fleet.ended() }

  tell('outage', tally())
  fleet.isAway = true
  await fleet.run(outage)
  const away = fleet.outcomes()
  fleet.isAway = false
  const back = fleet.now()
  fleet.watch()
  tell('after it', tally())
  const need = ((session === undefined ? accounts : used) / requestBudget.perMinute) * 60
  const dead = [...issued.keys()].filter((account) => isKeptFresh(account) && back - (issued[account] ?? 0) >= life)
  // Those that nobody asks for are found by the keeper's next sweep.
  await fleet.run(need * 1.1 + 2 * fleet.sweepEvery)
  const waits = (isOne: (account: number) => boolean): Waits => {
    const sorted = Float64Array.from(
      dead.filter(isOne),
      (account) => firstIssued[account] || Number.POSITIVE_INFINITY,
    ).toSorted()
    return { half: (sorted[sorted.length >> 1] ?? back) - back, all: (sorted.at(-1) ?? back) - back }
  }
  const figures = {
    mean: minutes.reduce((sum, count) => sum + count, 0) / minutes.length,
    peak: minutes.reduce((most, count) => Math.max(most, count), 0),
    mostInAMinute: traffic.mostInAMinute(),
    ...tally(),
    ...everyday,
    away,
    need,
    working: fleet.lastWithoutToken() - back,
    used: waits(isUsed),
    unused: waits((account) => !isUsed(account)),
  }
  tell('end', tally())
  await fleet.close()
  return figures
}
