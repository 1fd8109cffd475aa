/**
 * The worlds that are looked at: what happens and goes wrong in each.
 */
import type { Scenario } from './scenario.ts'
import { grace } from './service.ts'

const day = 86_400_000
/** Two clocks that are ten minutes off, one to each side. */
const skews = [600_000, -600_000]

/** Small enough to be gone through in every order. */
export const smallWorlds = {
  'nothing going wrong': {},
  'lost replies': { lostReplies: 2 },
  'a lost reply and a firewall block': { lostReplies: 1, blocks: 1, firewall: true },
  'a lost reply and no connection': { lostReplies: 1, unreachables: 1 },
  'a crash': { crashes: 1 },
  'a store operation that fails': { storeFailures: 1 },
  'two store operations that fail, in one process': { processes: 1, storeFailures: 2, calls: 3 },
  'a cut between one process and the store': { cuts: 1 },
  'a store that went back': { rollbacks: 1 },
  'wall clocks ten minutes off': { skews, calls: 2 },
  'a lost reply, at a service that repeats its answer for a while': {
    lostReplies: 1,
    token: 'ageing',
    rotation: 'brief',
    rotationGrace: grace,
  },
  'a firewall block': { blocks: 1, firewall: true },
  'no connection': { unreachables: 2 },
} as const satisfies Record<string, Partial<Scenario>>

/** The same, but larger. */
export const mediumWorlds = {
  'a store that was emptied': { emptyings: 1 },
  'a pause': { pauses: 1 },
  'a machine that sleeps': { sleeps: 1 },
  'a wall clock that jumps by a day': { jumps: 1, jumpBy: [day, -day] },
} as const satisfies Record<string, Partial<Scenario>>

/** What callers do. */
export const callWorlds = {
  'a call of refresh': { refreshes: 1 },
  'a refused access token': { refusals: 1, calls: 2 },
  'a look at the status': { looks: 1 },
  'an exit after settled': { exits: 1, looks: 1 },
  'a refresh token alone, and a lost reply': { token: 'bare', lostReplies: 1 },
} as const satisfies Record<string, Partial<Scenario>>

/** One process leaves refreshes to the other. */
export const elsewhereWorlds = {
  'a process that leaves refreshes to others': { elsewhere: [1] },
  'such a process, and a lost reply': { elsewhere: [1], lostReplies: 1 },
  'such a process, and a crash': { elsewhere: [1], crashes: 1 },
  'such a process, and a refused access token': { elsewhere: [1], refusals: 1, calls: 2 },
  'such a process, and a call of refresh': { elsewhere: [1], refreshes: 1 },
  'such a process, and a store that was emptied': { elsewhere: [1], emptyings: 1 },
} as const satisfies Record<string, Partial<Scenario>>

/** The same with a token that has expired. */
export const wideWorlds = {
  'a sign-in': { signIns: 1 },
  'a sign-out': { signOuts: 1 },
  'a refresh token that is brought along': { imports: 1 },
} as const satisfies Record<string, Partial<Scenario>>

/** The same for the machine alone, which is fast enough for them. */
export const deepWorlds = {
  'two crashes': { crashes: 2 },
  'two store operations that fail': { storeFailures: 2 },
  'a store that was emptied, and a crash': { emptyings: 1, crashes: 1 },
  'a store that went back, and a crash': { rollbacks: 1, crashes: 1 },
  'a sign-in and a crash': { signIns: 1, crashes: 1 },
  'a sign-out and a crash': { signOuts: 1, crashes: 1 },
  'a call of refresh and a crash': { refreshes: 1, crashes: 1 },
  'a crash, in three processes': { processes: 3, crashes: 1 },
  'a store operation that fails, in three processes': { processes: 3, storeFailures: 1 },
} as const satisfies Record<string, Partial<Scenario>>

/** Too large to be gone through in every order each time; the first four a soak goes through as a whole. */
export const largeWorlds = {
  'two pauses': { pauses: 2 },
  'a lost reply, a crash and a pause': { lostReplies: 1, crashes: 1, pauses: 1 },
  'a pause, in three processes': { processes: 3, pauses: 1 },
  'a lost reply, in four processes': { processes: 4, lostReplies: 1 },
  'two processes with 2 crashes, 2 pauses, 2 lost replies, a sign-in and a sign-out': {
    crashes: 2,
    pauses: 2,
    lostReplies: 2,
    signIns: 1,
    signOuts: 1,
    calls: 2,
  },
  'three processes with a crash, a pause and a lost reply': { processes: 3, crashes: 1, pauses: 1, lostReplies: 1 },
} as const satisfies Record<string, Partial<Scenario>>

/** Where much goes wrong at once: gone through by chance. */
export const wildWorlds = {
  'a store that fails, with crashes, pauses and lost replies': {
    crashes: 2,
    pauses: 2,
    lostReplies: 2,
    storeFailures: 3,
    ticks: 2,
    calls: 2,
  },
  'a store that fails, with a sign-in and a sign-out': {
    storeFailures: 3,
    signIns: 1,
    imports: 1,
    signOuts: 1,
    ticks: 1,
    calls: 2,
  },
  'cuts, pauses and lost replies': { cuts: 2, pauses: 2, lostReplies: 1, ticks: 2, calls: 3 },
  'a store that goes back twice, with sign-ins': { rollbacks: 2, signIns: 2, calls: 2 },
  'a store that was emptied, with sign-ins, a sign-out and a clock that jumps': {
    emptyings: 1,
    signIns: 2,
    signOuts: 1,
    jumps: 1,
    jumpBy: [day, -day],
    calls: 2,
  },
  'blocks, no connection and lost replies': {
    blocks: 2,
    unreachables: 2,
    lostReplies: 1,
    crashes: 1,
    firewall: true,
    calls: 3,
  },
  'clocks that are off, jump and stand still': {
    skews,
    jumps: 2,
    jumpBy: [day, -day],
    sleeps: 1,
    lostReplies: 1,
    calls: 2,
  },
  'every call, and exits': { refreshes: 2, refusals: 2, looks: 1, exits: 2, signIns: 1, lostReplies: 1, calls: 2 },
  'three processes and everything that may go wrong, but for a store that loses something and clocks that jump': {
    processes: 3,
    skews: [0, 600_000, -600_000],
    crashes: 1,
    pauses: 2,
    sleeps: 1,
    ticks: 2,
    lostReplies: 1,
    unreachables: 1,
    blocks: 1,
    firewall: true,
    storeFailures: 2,
    cuts: 1,
    signIns: 1,
    signOuts: 1,
    refreshes: 1,
    refusals: 1,
    looks: 1,
    exits: 1,
    calls: 2,
  },
} as const satisfies Record<string, Partial<Scenario>>
