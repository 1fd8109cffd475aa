/**
 * What a simulated world is made of, and how much may go wrong in it.
 */
import type { gatesOf } from '../../../src/kernel/gate.ts'
import type { Machine } from '../../../src/kernel/machine.ts'
import type { Rotation } from './service.ts'

export const account = 'owner@example.com'

/** How often each of it may happen in one world. */
export interface Allowances {
  /** A process ends in the midst of something, and another one starts in its place. */
  readonly crashes: number
  /** Time jumps in the midst of something: whoever is at it was stopped meanwhile. */
  readonly pauses: number
  /** A machine sleeps in the midst of something: the monotonic clock of its process stands still, all others go on. */
  readonly sleeps: number
  /** The wall clock of one process is set forward or back by `jumpBy`. */
  readonly jumps: number
  /** A timer fires while others are in the midst of something; otherwise time passes only when nobody has anything to do. */
  readonly ticks: number
  /** The access token grows older: a fresh one ages, an ageing one ends. */
  readonly expiries: number
  readonly lostReplies: number
  /** The request can't be sent at all: no connection. */
  readonly unreachables: number
  /** A firewall's page in place of the answer. */
  readonly blocks: number
  /** A store operation fails; a write may have been applied before. */
  readonly storeFailures: number
  /** The store loses everything. */
  readonly emptyings: number
  /** The store goes back to the record that it held before, or to the one before that. */
  readonly rollbacks: number
  /** One process is cut off from the store until the cut is healed. */
  readonly cuts: number
  readonly signIns: number
  /** A refresh token alone is saved, as from another client. */
  readonly imports: number
  readonly signOuts: number
  /** Calls of `refresh`. */
  readonly refreshes: number
  /** Calls of `invalidate`: the owner API refused the token that the process was given last. */
  readonly refusals: number
  /** Calls of `status`. */
  readonly looks: number
  /** Calls of `settled`, after each of which the process may exit. */
  readonly exits: number
}

export type Allowance = keyof Allowances

/** The part of a scenario that a process is made of. */
export interface Nature {
  readonly machine: Machine
  /** How its gates are put together, where that is not as always. */
  readonly compose?: typeof gatesOf
  /** Whether a process can tell that another one is dead or running. */
  readonly sameHost: boolean
  /** Whether the record of what is known of the firewall is read and written: two operations where there is one without. */
  readonly firewall: boolean
  /** The option, in seconds. */
  readonly rotationGrace: number
  /** The processes that leave refreshes to others. */
  readonly elsewhere: readonly number[]
}

export interface Scenario extends Nature, Allowances {
  readonly processes: number
  readonly rotation: Rotation
  /** At the start: `fresh`, just issued; `ageing`, with one hour of life left; `expired`; or `bare`, a refresh token alone. */
  readonly token: 'fresh' | 'ageing' | 'expired' | 'bare'
  /** `getAccessToken` calls of each process. */
  readonly calls: number
  /** Milliseconds that the wall clock of each process is off. */
  readonly skews: readonly number[]
  /** Milliseconds. */
  readonly jumpBy: readonly number[]
}

const nothing: Allowances = {
  crashes: 0,
  pauses: 0,
  sleeps: 0,
  jumps: 0,
  ticks: 0,
  expiries: 0,
  lostReplies: 0,
  unreachables: 0,
  blocks: 0,
  storeFailures: 0,
  emptyings: 0,
  rollbacks: 0,
  cuts: 0,
  signIns: 0,
  imports: 0,
  signOuts: 0,
  refreshes: 0,
  refusals: 0,
  looks: 0,
  exits: 0,
}

/** Two processes whose clocks agree, an expired token, and nothing goes wrong. */
export const calm: Omit<Scenario, 'machine'> = {
  ...nothing,
  processes: 2,
  rotation: 'strict',
  token: 'expired',
  sameHost: false,
  firewall: false,
  rotationGrace: 0,
  elsewhere: [],
  calls: 1,
  skews: [],
  jumpBy: [],
}

/** What may happen in a world, and nothing else. */
export function allowancesOf(scenario: Allowances): Allowances {
  const names = Object.keys(nothing) as Allowance[]
  return Object.fromEntries(names.map((name) => [name, scenario[name]])) as unknown as Allowances
}

/** The same, after all of it has happened. */
export const spent = nothing
