/**
 * What the judge of a simulated world has seen: plain data, copied before each change, so that every future has its own.
 */
import type { TokenSet } from '../../../src/issuer/token-set.ts'
import { life, type Rotation } from './service.ts'

/** What went wrong, as far as it excuses something. */
export type Fault =
  | 'pauses'
  | 'lost'
  | 'crashes'
  | 'store'
  | 'cuts'
  | 'emptied'
  | 'rolledBack'
  | 'blocks'
  | 'unreachable'
  | 'jumps'

/** A refresh token as it was sent, with the access token that it was to replace. */
export interface Sent {
  readonly times: number
  readonly last: number
  /** Times that its answer may have been lost: a lost reply, a crash or a long pause before the result was stored, a store that forgot. */
  readonly losses: number
  /** Processes that sent it and have not stored what came of it. */
  readonly holders: ReadonlyMap<number, Holding>
}

export interface Holding {
  /** When it was sent. */
  readonly since: number
  /** The service refused: no tokens can be lost. */
  readonly isRefused: boolean
}

/** Whoever changes a field gives it a new value: what stands in it is shared with all copies. */
export interface Evidence {
  readonly rotation: Rotation
  /** The processes that leave refreshes to others. */
  readonly elsewhere: readonly number[]
  /** Milliseconds after which others may take an answer for lost that was not stored. */
  readonly patience: number
  /** Milliseconds by which the wall clocks of two processes differ, at most. */
  readonly spread: number
  verdicts: readonly string[]
  sent: ReadonlyMap<string, Sent>
  /** When each access token ends. */
  ends: ReadonlyMap<string, number>
  faults: Readonly<Record<Fault, number>>
  /** Sign-ins and sign-outs in the order in which they reached the store. */
  sessions: readonly string[]
  /** When each process last found no connection. */
  unreachableAt: ReadonlyMap<number, number>
  /** Access tokens, and the process to which they were refused, with how often. */
  refused: ReadonlyMap<string, number>
  /** Refreshes that somebody asked for. */
  asked: number
  /** Refreshes of a token that was young. */
  early: number
  signOuts: number
  /** When each process was asked to refresh. */
  askedAt: ReadonlyMap<number, number>
  /** Until when the service's firewall is known to block. */
  blockedUntil: number
  /** `nameOfAll` of this, once it was asked for. */
  name: number | undefined
}

const noFaults: Record<Fault, number> = {
  pauses: 0,
  lost: 0,
  crashes: 0,
  store: 0,
  cuts: 0,
  emptied: 0,
  rolledBack: 0,
  blocks: 0,
  unreachable: 0,
  jumps: 0,
}

/**
 * @param spread - milliseconds by which the wall clocks of the processes differ at most
 * @param seeded - what the owner has at the beginning
 */
export function firstEvidence(
  { rotation, sameHost, elsewhere }: Pick<Evidence, 'rotation' | 'elsewhere'> & { readonly sameHost: boolean },
  spread: number,
  seeded: TokenSet,
): Evidence {
  return {
    rotation,
    elsewhere,
    // Of the least time that an intent lives, the ten seconds that may pass between the swap and the request.
    patience: sameHost ? 110_000 : 35_000,
    spread,
    verdicts: [],
    sent: new Map(),
    ends: new Map([[seeded.access_token, seeded.expires_at * 1000]]),
    faults: noFaults,
    sessions: ['sign-in 1'],
    unreachableAt: new Map(),
    refused: new Map(),
    asked: 0,
    early: 0,
    signOuts: 0,
    askedAt: new Map(),
    blockedUntil: 0,
    name: undefined,
  }
}

export const withEntry = <Key, Value>(map: ReadonlyMap<Key, Value>, key: Key, value: Value): Map<Key, Value> =>
  new Map(map).set(key, value)

export function without<Key, Value>(map: ReadonlyMap<Key, Value>, key: Key): ReadonlyMap<Key, Value> {
  const copy = new Map(map)
  copy.delete(key)
  return copy
}

export const nameOf = ({ refresh_token, access_token }: TokenSet): string => `${refresh_token}/${access_token}`

export const sentAs = (seen: Evidence, tokens: TokenSet): Sent =>
  seen.sent.get(nameOf(tokens)) ?? { times: 0, last: 0, losses: 0, holders: new Map() }

/** When an access token was issued, in milliseconds. */
export const issuedAt = ({ ends }: Evidence, accessToken: string): number | undefined => {
  const end = ends.get(accessToken)
  return end === undefined ? undefined : end - life * 1000
}

const names = new Map<string, number>()

/** A number for all that a later verdict depends on: it would be long to compare. */
export function nameOfAll(seen: Evidence): number {
  if (seen.name !== undefined) return seen.name
  let text = ''
  for (const [name, { times, last, losses, holders }] of seen.sent) {
    text += `${name}:${times}:${last}:${losses}:`
    for (const [holder, { since, isRefused }] of holders) text += `${holder}/${since}/${isRefused}`
  }
  for (const kind in seen.faults) text += `${seen.faults[kind as Fault]}.`
  for (const session of seen.sessions) text += `${session},`
  for (const [process, since] of seen.unreachableAt) text += `${process}!${since},`
  for (const [key, count] of seen.refused) text += `${key}*${count},`
  for (const [process, since] of seen.askedAt) text += `${process}?${since},`
  text += `${seen.asked}.${seen.early}.${seen.signOuts}.${seen.blockedUntil}`
  seen.name = names.get(text) ?? names.size
  names.set(text, seen.name)
  return seen.name
}
