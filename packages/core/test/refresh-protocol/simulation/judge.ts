/**
 * The judge of a simulated world: what must never happen, whatever the order of things, and what must be so in the end.
 */
import { ReauthenticationRequiredError, SignedOutError, StoreError } from '../../../src/errors.ts'
import type { AccountRecord } from '../../../src/token-record.ts'
import type { TokenSet } from '../../../src/token-set.ts'
import { life, parse } from './service.ts'
import type { Answer, Rotation, Service } from './service.ts'

export interface Judge {
  readonly verdicts: readonly string[]
  written(before: AccountRecord, next: AccountRecord): void
  sent(process: number, tokens: TokenSet, answer: Answer, now: number): void
  lost(process: number, tokens: TokenSet): void
  paused(): void
  storeFailed(): void
  crashed(process: number): void
  signedOut(): void
  answered(token: string, now: number): void
  failed(call: string, error: unknown): void
  stuck(): void
  final(record: AccountRecord, service: Service): void
  /** What a later verdict depends on. */
  state(): string
  /** The same judge, to see another future. */
  fork(): Judge
}

/** A refresh token as it was sent, with the access token that it was to replace. */
interface Sent {
  times: number
  /** Times that its answer may have been lost: a lost reply, a crash or a pause before the result was stored. */
  losses: number
  /** Processes that sent it and have not stored what came of it. */
  readonly holders: Set<number>
}

/** Milliseconds before its end at which an access token no longer keeps a replay back. */
const replayMargin = 120_000

/** What the judge has seen. */
interface Seen {
  readonly verdicts: readonly string[]
  readonly sent: ReadonlyMap<string, Sent>
  /** When each access token ends. */
  readonly ends: ReadonlyMap<string, number>
  readonly faults: {
    readonly pauses: number
    readonly others: number
    readonly store: number
    readonly signOuts: number
  }
  /** The newest access token of each sign-in that a caller was given. */
  readonly given: ReadonlyMap<number, number>
}

/** @param seeded - what the owner has at the beginning */
export function createJudge(rotation: Rotation, seeded: TokenSet): Judge {
  const ends = new Map([[seeded.access_token, seeded.expires_at * 1000]])
  return judgeOf(rotation, {
    verdicts: [],
    sent: new Map(),
    ends,
    faults: { pauses: 0, others: 0, store: 0, signOuts: 0 },
    given: new Map(),
  })
}

function judgeOf(rotation: Rotation, seen: Seen): Judge {
  const verdicts = [...seen.verdicts]
  const sent = new Map([...seen.sent].map(([name, entry]) => [name, { ...entry, holders: new Set(entry.holders) }]))
  const ends = new Map(seen.ends)
  const faults = { ...seen.faults }
  const given = new Map(seen.given)

  const accuse = (verdict: string): void => void verdicts.push(verdict)
  const nameOf = ({ refresh_token, access_token }: TokenSet): string => `${refresh_token}/${access_token}`
  const faultless = (): boolean => faults.pauses + faults.others + faults.store === 0
  const losses = (): number => [...sent.values()].reduce((sum, entry) => sum + entry.losses, 0)

  function sentAs(tokens: TokenSet): Sent {
    const entry = sent.get(nameOf(tokens)) ?? { times: 0, losses: 0, holders: new Set<number>() }
    sent.set(nameOf(tokens), entry)
    return entry
  }

  return {
    verdicts,

    written(before, next) {
      // Whoever brought a result to the store has lost nothing.
      if (next.state !== 'signed-in' || next.intent === undefined) sent.forEach(({ holders }) => holders.clear())
      if (next.generation < before.generation) accuse('a newer sign-in or sign-out was overwritten')
      if (next.generation !== before.generation || next.state === 'signed-out') return
      if (before.state === 'signed-out') return accuse('a sign-out was undone')
      const [family, serial] = parse(before.tokens.access_token)
      const [nextFamily, nextSerial] = parse(next.tokens.access_token)
      if (family !== nextFamily) accuse('a newer sign-in was overwritten')
      else if (nextSerial < serial) accuse('newer tokens were overwritten by older ones')
    },

    sent(process, tokens, { tokens: issued }, now) {
      if (issued !== undefined) ends.set(issued.access_token, issued.expires_at * 1000)
      const entry = sentAs(tokens)
      entry.times += 1
      entry.holders.add(process)
      if (entry.times === 1) return
      if (faultless()) accuse('two requests for one expiry')
      else if (entry.times - 1 > entry.losses) accuse('more replays than lost answers')
      if (now < tokens.expires_at * 1000 - replayMargin) accuse('a replay although the access token works')
    },

    lost(process, tokens) {
      faults.others += 1
      const entry = sentAs(tokens)
      entry.losses += 1
      entry.holders.delete(process)
    },

    storeFailed() {
      faults.store += 1
    },

    paused() {
      faults.pauses += 1
      for (const entry of sent.values()) entry.losses += entry.holders.size
    },

    crashed(process) {
      faults.others += 1
      for (const entry of sent.values()) if (entry.holders.delete(process)) entry.losses += 1
    },

    signedOut() {
      faults.signOuts += 1
    },

    answered(token, now) {
      const [family, serial] = parse(token)
      given.set(family, Math.max(given.get(family) ?? 0, serial))
      if (now >= (ends.get(token) ?? now + life)) accuse('an expired access token was handed out')
    },

    failed(call, error) {
      if (error instanceof StoreError && faults.store > 0) return
      if (call !== 'getAccessToken') accuse(`${call} failed: ${String(error)}`)
      if (error instanceof SignedOutError && faults.signOuts > 0) return
      if (faultless()) accuse(`a call failed without a fault: ${String(error)}`)
      if (error instanceof ReauthenticationRequiredError && (rotation === 'graceful' || rotation === 'fixed')) {
        accuse('a session was given up that the service would have continued')
      }
    },

    stuck() {
      accuse('somebody waits for ever')
    },

    final(record, service) {
      if (record.state === 'signed-out') return
      if (record.state === 'signed-in') {
        if (!service.accepts(record.tokens.refresh_token)) accuse('the store holds a dead refresh token')
        return
      }
      if (losses() === 0) accuse('a session ended without a loss')
      // A crash excuses a loss only of what nobody had been given yet.
      const [family, serial] = parse(record.tokens.access_token)
      const givenAway = (given.get(family) ?? 0) > serial && faults.store === 0
      if (rotation === 'strict' && (faults.others === 0 || givenAway)) accuse('a late success was thrown away')
    },

    state: () =>
      [
        ...[...sent].map(
          ([name, { times, losses: lost, holders }]) => `${name}:${times}:${lost}:${[...holders].join('')}`,
        ),
        faults.pauses,
        faults.others,
        faults.store,
        faults.signOuts,
        ...[...given].flat(),
      ].join(),

    fork: () => judgeOf(rotation, { verdicts, sent, ends, faults, given }),
  }
}
