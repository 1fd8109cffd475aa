/**
 * A fleet for days, simulated: token managers and keepers in many processes over one store within one budget, on a virtual clock, and an
 * outage of the service at the end. It is the world of `packages/token-manager/test/budget/fleet.ts`, outside Jest:
 *
 * `node --max-old-space-size=6000 bench/fleet-simulation.mjs [--accounts N] [--processes N] [--days D] [--settle D] [--outage HOURS]
 * [--used SHARE] [--poll SECONDS] [--session DAYS]`
 *
 * The days are those of everyday work, and those before it, in which everybody signs in (0.3 at the least). Nine accounts of ten, or
 * another share, are asked for every `--poll` seconds, else twice an hour; the others nobody but the keeper cares for: it renews their
 * tokens before their access tokens end, or, where refresh tokens live for a known time if nobody uses them (`--session`), a tenth of that
 * before its end; they sign in over the other nine. A million accounts take 7 GB.
 */
import { register } from 'node:module'
import { parseArgs } from 'node:util'

register('./fleet-simulation/typescript.mjs', import.meta.url)
const { runFleet } = await import('../packages/token-manager/test/budget/fleet-course.ts')

const text = (fallback) => ({ type: 'string', default: fallback })
const { values } = parseArgs({
  options: {
    accounts: text('20000'),
    processes: text('64'),
    days: text('1'),
    settle: text('0.34'),
    outage: text('4'),
    used: text('0.9'),
    poll: text('1800'),
    session: text('0'),
  },
})
const {
  accounts,
  processes,
  days,
  settle,
  outage,
  used: share,
  poll,
  session: sessionDays,
} = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Number(value)]))
const hour = 3600
const life = 8 * hour
const used = Math.floor(accounts * share)
const session = sessionDays > 0 ? sessionDays * 24 * hour : undefined
// Twice what one refresh in each life takes.
const perMinute = Math.max(60, Math.ceil(1.92 * 60 * (used / life + (accounts - used) / (session ?? life))))

const cpu = () => process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6
const began = cpu()
let part = ''
let since = began
const figures = await runFleet(
  {
    accounts,
    used,
    processes,
    life,
    session,
    pollEvery: poll,
    requestBudget: { perMinute },
    settle: settle * 24 * hour,
    steady: days * 24 * hour,
    outage: outage * hour,
  },
  (next, before) => {
    const { requests, replays, lost } = before
    if (part !== '')
      console.error(`${part}: ${(cpu() - since).toFixed(1)} s, ${requests} refreshes, ${replays} replays, ${lost} lost`)
    part = next
    since = cpu()
  },
)
const cpuSeconds = cpu() - began
const { mean, peak, mostInAMinute, requests, replays, lost, ended, everyday, need } = figures
const ratio = (value, to) => Number((value / to).toFixed(2))
const minutes = (seconds) => Math.round(seconds / 60)
const withoutToken = Object.entries(everyday).reduce(
  (sum, [outcome, count]) => sum + (outcome === 'token' ? 0 : count),
  0,
)
console.log(`${accounts} accounts, ${processes} processes, ${days} days, then an outage of ${outage} hours`)
console.table({
  'requests, the busiest minute': { figure: peak, ratio: ratio(peak, mean), to: 'the mean minute', budget: 1.3 },
  'requests, the most in any 60 s': {
    figure: mostInAMinute,
    ratio: ratio(mostInAMinute, perMinute),
    to: 'the budget',
    budget: 1,
  },
  'after the outage, minutes until each call gets a token': {
    figure: minutes(figures.working),
    ratio: ratio(figures.working, need),
    to: 'what the budget needs',
    budget: 1.1,
  },
  'the same, half of the dead tokens in use': { figure: minutes(figures.used.half) },
  ...(session === undefined && {
    'the same, half of those that nobody asks for': { figure: minutes(figures.unused.half) },
    'the same, the last of those': { figure: minutes(figures.unused.all) },
  }),
  'everyday calls without a token': { figure: withoutToken },
  'access tokens that ended before the next came': { figure: ended },
  'refresh tokens that were sent twice': { figure: replays },
  'sessions lost': { figure: lost },
  'refreshes in all': { figure: requests },
  'CPU, s': { figure: Number(cpuSeconds.toFixed(2)) },
  'memory at the end, MB': { figure: Math.round(process.memoryUsage().rss / 1e6) },
})
