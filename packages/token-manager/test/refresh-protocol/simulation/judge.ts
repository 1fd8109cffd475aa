/**
 * The judge of a simulated world: what must never happen, whatever the order of things, and what must be so in the end.
 */
import {
  FirewallChallengeError,
  ReauthenticationRequiredError,
  RefreshBudgetError,
  RefreshElsewhereError,
  RefreshInDoubtError,
  SessionExistsError,
  SignedOutError,
  StoreError,
  UnreachableError,
} from '../../../src/errors.ts'
import { isBare, type TokenSet } from '../../../src/issuer/token-set.ts'
import type { AccountRecord, Intent } from '../../../src/store/token-record.ts'
import { type Evidence, type Fault, issuedAt, nameOf, type Sent, sentAs, withEntry, without } from './evidence.ts'
import type { Call } from './process.ts'
import { grace, life, parse, type Service } from './service.ts'
import { nameOf as nameOfRecord } from './store.ts'

/** Milliseconds before its end at which an access token no longer keeps a replay back. */
const replayMargin = 120_000
/** Milliseconds between two refreshes of one account, and between two replays. */
const leastInterval = 60_000
/** Milliseconds that a pause lasts, at the most. */
const longestPause = 125_000

/** The evidence with something added to it, which may be a verdict. */
export function judged(seen: Evidence, look: (seen: Evidence) => string | false | undefined | void): Evidence {
  const copy = { ...seen, name: undefined }
  const verdict = look(copy)
  if (typeof verdict === 'string') copy.verdicts = [...copy.verdicts, verdict]
  return copy
}

export const fault =
  (kind: Fault) =>
  (seen: Evidence): void => {
    seen.faults = { ...seen.faults, [kind]: seen.faults[kind] + 1 }
  }

const sum = (seen: Evidence, ...kinds: Fault[]): number => kinds.reduce((total, kind) => total + seen.faults[kind], 0)
const isForgetful = (seen: Evidence): boolean => sum(seen, 'emptied', 'rolledBack') > 0
const faultless = ({ faults }: Evidence): boolean => Object.values(faults).every((count) => count === 0)
/** A write to the account's record that the store took. */
export function written(
  seen: Evidence,
  before: AccountRecord | undefined,
  next: AccountRecord,
  now: number,
): string | undefined {
  for (const [name, entry] of seen.sent) {
    if (entry.holders.size === 0) continue
    // Whoever brought a result to the store has lost nothing; whoever did not in time is waited for no longer.
    const isResult = next.state !== 'signed-in' || next.intent === undefined
    const waitedFor = isResult ? { ...entry, holders: new Map() } : withoutOverdue(seen, entry, now)
    seen.sent = withEntry(seen.sent, name, waitedFor)
  }
  const session = sessionOf(next)
  const isNew = !seen.sessions.includes(session)
  if (isNew) seen.sessions = [...seen.sessions, session]
  if (next.state === 'reauthentication-required' && next.reason !== 'rotated_token_lost') {
    const { times } = sentAs(seen, next.tokens)
    if (times > 1 && sum(seen, 'store', 'cuts', 'emptied', 'rolledBack') === 0) {
      return 'a lost answer was told as a plain refusal'
    }
  }
  if (isNew && before?.state === 'signed-in' && next.state === 'signed-in' && isBare(next.tokens)) {
    return 'a session was ended by a refresh token that was brought along'
  }
  if (before === undefined || isNew) return undefined
  if (seen.sessions.indexOf(session) < seen.sessions.indexOf(sessionOf(before))) {
    return before.state === 'signed-out' ? 'a sign-out was undone' : 'a newer sign-in or sign-out was overwritten'
  }
  if (before.state === 'signed-out' || next.state === 'signed-out' || session !== sessionOf(before)) return undefined
  const isOlder = parse(next.tokens.access_token)[1] < parse(before.tokens.access_token)[1]
  if (!isOlder) return undefined
  // The predecessor of a refused access token takes its place, and the refresh token stays.
  const isWayBack = wasRefused(seen, before.tokens.access_token) && next.lineage === before.lineage
  if (!isWayBack) return 'newer tokens were overwritten by older ones'
  // Where the refresh token stays, both are as they were before it was sent: its next request is another expiry's.
  seen.sent = without(seen.sent, nameOf(next.tokens))
  return undefined
}

/** From the moment on at which another intent is in the store, holders whose time is over count as lost. */
function withoutOverdue({ patience }: Evidence, entry: Sent, now: number): Sent {
  const holders = new Map([...entry.holders].filter(([, { since }]) => now - since < patience))
  return { ...entry, holders, losses: entry.losses + entry.holders.size - holders.size }
}

const wasRefused = (seen: Evidence, token: string): boolean =>
  [...seen.refused.keys()].some((key) => key.endsWith(` ${token}`))

/** Which sign-in or sign-out a record is of. */
function sessionOf(record: AccountRecord): string {
  if (record.state === 'signed-out') return `sign-out ${nameOfRecord(record)}`
  return `sign-in ${parse(record.tokens.refresh_token)[0]}`
}

export interface Sending {
  readonly process: number
  readonly tokens: TokenSet
  readonly now: number
  /** The same by the sender's wall clock. */
  readonly wall: number
}

/** A request that left a process, whether or not the service saw it. */
export function sent(seen: Evidence, { process, tokens, now, wall }: Sending): string | undefined {
  if (seen.elsewhere.includes(process)) return 'a request of a process that leaves refreshes to others'
  if (now < seen.blockedUntil && sum(seen, 'crashes', 'store', 'cuts', 'emptied', 'pauses', 'jumps') === 0) {
    return 'a request while the firewall is known to block'
  }
  const before = sentAs(seen, tokens)
  const holders = withEntry(before.holders, process, { since: now, isRefused: false })
  seen.sent = withEntry(seen.sent, nameOf(tokens), { ...before, times: before.times + 1, last: now, holders })
  if (before.times === 0) return tooEarly(seen, tokens, now)
  if (faultless(seen)) return 'two requests for one expiry'
  if (before.times > before.losses + sum(seen, 'emptied', 'rolledBack')) return 'more replays than lost answers'
  const isUnwanted = seen.askedAt.size > 0 || wasRefused(seen, tokens.access_token)
  const end = tokens.expires_at * 1000 - replayMargin
  const isInGrace = seen.rotation === 'brief' && now - before.last <= grace * 1000 && before.holders.size === 0
  if (
    !isInGrace &&
    !isUnwanted &&
    !isForgetful(seen) &&
    seen.faults.jumps === 0 &&
    Math.max(now, wall) + seen.spread < end
  )
    return 'a replay although the access token works'
  if (before.times > 1 && now - before.last < leastInterval && sum(seen, 'jumps', 'store', 'rolledBack') === 0) {
    return 'replays without a rest between them'
  }
  return undefined
}

/** A refresh of a token that is young needs somebody who asked for it, or a clock that was wrong. */
function tooEarly(seen: Evidence, tokens: TokenSet, now: number): string | undefined {
  if (isBare(tokens)) return undefined
  const since = issuedAt(seen, tokens.access_token) ?? now
  if (now - since > 0.6 * life * 1000) return undefined
  const isRefreshed = parse(tokens.access_token)[1] > 0
  // `refresh()` counts by the clock of whoever refreshed before: the two may differ by more than that.
  const isMistaken = seen.faults.jumps > 0 || (seen.askedAt.size > 0 && seen.spread >= leastInterval)
  if (isRefreshed && now - since < leastInterval && !isMistaken) return 'two refreshes within a minute'
  seen.early += 1
  // One for the process whose clock has jumped, and one for each sign-in that it wrote.
  const signIns = seen.sessions.filter((session) => session.startsWith('sign-in')).length
  const excuses = seen.asked + (1 + signIns) * seen.faults.jumps
  return seen.early > excuses ? 'a young access token was refreshed' : undefined
}

/** A token set left the service. */
export function issued(seen: Evidence, { access_token, expires_at }: TokenSet): void {
  seen.ends = withEntry(seen.ends, access_token, expires_at * 1000)
}

/** The service refused a refresh token: its sender holds nothing that could be lost. */
export function refusedToRefresh(seen: Evidence, process: number, tokens: TokenSet): void {
  const entry = sentAs(seen, tokens)
  seen.sent = withEntry(seen.sent, nameOf(tokens), {
    ...entry,
    holders: withEntry(entry.holders, process, { since: entry.last, isRefused: true }),
  })
}

/** The request met a firewall's page in place of the service. */
export function blocked(seen: Evidence, tokens: TokenSet, process: number, until: number): void {
  fault('blocks')(seen)
  seen.blockedUntil = until
  const entry = sentAs(seen, tokens)
  const holders = without(entry.holders, process)
  seen.sent = withEntry(seen.sent, nameOf(tokens), { ...entry, times: entry.times - 1, holders })
}

/** There was no connection, and nothing was sent. */
export function unreachable(seen: Evidence, process: number, now: number): string | undefined {
  fault('unreachable')(seen)
  const last = seen.unreachableAt.get(process) ?? 0
  seen.unreachableAt = withEntry(seen.unreachableAt, process, now)
  const isExcused = seen.askedAt.size > 0 || seen.faults.crashes > 0 || seen.faults.jumps > 0
  return now - last < leastInterval && !isExcused ? 'no rest after a failure' : undefined
}

/** The answer was lost on its way. */
export function lost(seen: Evidence, process: number, tokens: TokenSet): void {
  fault('lost')(seen)
  seen.blockedUntil = 0
  const entry = sentAs(seen, tokens)
  const holders = without(entry.holders, process)
  seen.sent = withEntry(seen.sent, nameOf(tokens), { ...entry, losses: entry.losses + 1, holders })
}

/** The process ended. What it had not stored is lost. */
export function crashed(seen: Evidence, process: number): void {
  fault('crashes')(seen)
  for (const [name, entry] of seen.sent) {
    if (!entry.holders.has(process)) continue
    const holders = without(entry.holders, process)
    seen.sent = withEntry(seen.sent, name, { ...entry, losses: entry.losses + 1, holders })
  }
}

/** `settled()` resolved, or the process ended some time after that. */
export function left(seen: Evidence, process: number, when: 'settled' | 'exit'): string | undefined {
  // The result for a sign-in that another one has replaced is dropped.
  const isHolding = [...seen.sent].some(
    ([name, { holders }]) =>
      holders.get(process)?.isRefused === false && seen.sessions.at(-1) === `sign-in ${parse(name)[0]}`,
  )
  if (!isHolding) return undefined
  return when === 'settled'
    ? 'settled() resolved before a result was stored'
    : 'an exit after settled() lost a token set'
}

/** The store lost what stood in it, or went back to what had stood in it before. */
export function forgot(seen: Evidence, kind: 'emptied' | 'rolledBack'): void {
  fault(kind)(seen)
}

/** An access token was given to a caller. */
export function answered(seen: Evidence, who: string, token: string, now: number): string | undefined {
  const end = seen.ends.get(token) ?? now + life
  if (seen.faults.jumps === 0 && now - seen.spread >= end) return 'an expired access token was handed out'
  const refusals = seen.refused.get(`${who} ${token}`) ?? 0
  return refusals > Math.min(1, seen.faults.jumps) ? 'a refused access token was handed out again' : undefined
}

/** The owner API refused an access token to a process. */
export function refused(seen: Evidence, who: string, token: string, now: number): void {
  const key = `${who} ${token}`
  seen.asked += 1
  // A token that was refreshed just now is given once more; by the clock of its process, which may have slept over the answer.
  const since = issuedAt(seen, token) ?? now
  const counts = now - since >= leastInterval + seen.faults.pauses * longestPause ? 1 : 0
  seen.refused = withEntry(seen.refused, key, (seen.refused.get(key) ?? 0) + counts)
}

export function asked(seen: Evidence, process: number, now: number): void {
  seen.asked += 1
  seen.askedAt = withEntry(seen.askedAt, process, now)
}

/** `refresh()` resolved. */
export function refreshed(seen: Evidence, process: number, now: number): string | undefined {
  const newest = Math.max(...[...seen.ends.values()].map((end) => end - life * 1000))
  const since = (seen.askedAt.get(process) ?? now) - leastInterval - seen.spread
  return newest < since && seen.faults.jumps === 0 && seen.sessions.length === 1
    ? 'refresh() changed nothing'
    : undefined
}

export function failed(seen: Evidence, call: Call, error: unknown): string | undefined {
  const { faults, rotation } = seen
  if (error instanceof StoreError && sum(seen, 'store', 'cuts', 'emptied', 'rolledBack', 'pauses') > 0) return undefined
  if (call === 'import' && error instanceof SessionExistsError) return undefined
  if (call !== 'call' && call !== 'refresh') return `${call} failed: ${String(error)}`
  if (error instanceof SignedOutError && (seen.signOuts > 0 || faults.emptied > 0)) return undefined
  if (error instanceof FirewallChallengeError && faults.blocks > 0) return undefined
  if (error instanceof RefreshElsewhereError && seen.elsewhere.length > 0) return undefined
  if (error instanceof UnreachableError && !error.requestSent && faults.unreachable > 0) return undefined
  // A token that was refused right after its refresh can't be replaced before minRefreshInterval is over.
  if (error instanceof RefreshBudgetError && seen.refused.size > 0) return undefined
  if (faultless(seen)) return `a call failed without a fault: ${String(error)}`
  const isDoubtful = sum(seen, 'lost', 'pauses', 'crashes', 'store', 'cuts') > 0 || isForgetful(seen)
  if (error instanceof RefreshInDoubtError && !isDoubtful) return 'a refresh is in doubt without a reason'
  const isForgiving = rotation === 'graceful' || rotation === 'fixed'
  if (error instanceof ReauthenticationRequiredError && isForgiving && !isForgetful(seen)) {
    return 'a session was given up that the service would have continued'
  }
  return undefined
}

/** A process has nothing to do but to wait for an intent: its own, or one that says that nothing will come of it. */
export function waiting(intent: Intent, isOwn: boolean): string | undefined {
  if (intent.answerLost) return 'a process waits for an answer that was given up'
  return isOwn && intent.restored !== true ? 'a process waits for itself' : undefined
}

/** All is done, and a fresh start was made with what was stored. */
export function ended(seen: Evidence, record: AccountRecord | undefined, service: Service): string | undefined {
  if (record === undefined) return seen.faults.emptied > 0 ? undefined : 'the record is gone'
  if (record.state === 'signed-out') return undefined
  if (record.state === 'signed-in') {
    // By a clock that was ahead its access token is believed to work: nobody has looked after its refresh token yet.
    const isYetToCome = record.intent !== undefined && seen.faults.jumps > 0
    const isGood = service.accepts(record.tokens.refresh_token) || isYetToCome
    return isGood ? undefined : 'the store holds a dead refresh token'
  }
  // One replay revokes the whole family: what was lost need not be what is refused.
  // By the refresh token alone: the access token may be the one before it, after a way back.
  const isItsOwn = ([name]: readonly [string, Sent]): boolean => name.startsWith(`${record.tokens.refresh_token}/`)
  const entries = [...seen.sent].filter(seen.rotation === 'strict' ? isItsOwn : () => true).map(([, entry]) => entry)
  if (!isForgetful(seen) && entries.every((entry) => entry.losses === 0)) return 'a session ended without a loss'
  const isUnexcused = !isForgetful(seen) && sum(seen, 'crashes', 'lost') === 0
  return seen.rotation === 'strict' && isUnexcused ? 'a late success was thrown away' : undefined
}
