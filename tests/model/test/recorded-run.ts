/**
 * Real managers over one store and one service, and what can be seen of them from outside: what they read and swap, what they send and
 * what comes back. `stepsOf` tells it in the words of trace.pml.
 */
import {
  createTokenManager,
  ReauthenticationRequiredError,
  type TokenIssuer,
  type TokenManager,
  type TokenRecord,
  type TokenStore,
} from '@owner-sso/core'
import { issuerOf, type SmallService } from './small-service.ts'

export const account = 'owner@example.com'

/** In the order of the numbers in trace.pml. */
const names = [
  'sign-in',
  'sign-out',
  'read',
  'intent',
  'conflict',
  'request',
  'answer',
  'refusal',
  'new tokens',
  'end',
  'doubt',
  'no intent',
  'refresh()',
  'crash',
  'pause',
  'fall back',
] as const
export type Name = (typeof names)[number]

/** Who did what; 0 is the person who signs in and out. `detail`: the version, or the number of a token set. */
export interface Step {
  readonly who: number
  readonly name: Name
  readonly detail: number
}

interface Seen {
  readonly who: number
  readonly name: Name
  readonly version?: number
  /** A refresh token that was sent, or came. */
  readonly token?: string
  /** Of a conflict: what was to be written. */
  readonly instead?: Name
}

export interface RecordedRun extends Disposable {
  /** Processes 1, 2 and 3. */
  readonly processes: readonly TokenManager[]
  signIn(): Promise<void>
  signOut(): Promise<void>
  /** Notes a call of `refresh()`, just before it. */
  willRefresh(who: number): void
  /** Notes that the holder, where one is under way, is stopped for longer than its intent lives: once for each intent. */
  pauseHolder(): void
  /** From now on nothing that the process does has an effect, and nothing comes back to it. */
  crash(who: number): void
  /** A call that is made meanwhile joins the refresh that is under way. */
  isSending(who: number): boolean
  /** The access token that the store has, where its predecessor is kept. */
  newest(): string | undefined
  /** Whose request is under way: it lives, and its intent stands in the store. */
  holder(): number | undefined
  readonly seen: readonly Seen[]
}

export function recordRun(service: SmallService): RecordedRun {
  const seen: Seen[] = []
  const crashed = new Set<number>()
  let end: ((reason: Error) => void) | undefined
  /** What a crashed process waits for: until the run is over, so that nothing is left behind. */
  const never = new Promise<never>((_, reject) => (end = reject))
  never.catch(() => undefined)
  const entries = new Map<string, { version: number; writeId: string; record: TokenRecord }>()
  const issuer = issuerOf(service)

  function storeOf(who: number): TokenStore {
    return {
      async read(name) {
        if (crashed.has(who)) return never
        const entry = entries.get(name)
        if (name === account) seen.push({ who, name: 'read', version: entry?.version ?? 0 })
        return structuredClone(entry)
      },
      async swap(name, expected, record, writeId) {
        if (crashed.has(who)) return never
        const entry = entries.get(name)
        const write = name === account ? nameOf(record, entry?.record) : undefined
        if ((entry?.version ?? 0) !== expected) {
          if (write !== undefined) seen.push({ who, name: 'conflict', instead: write })
          return { conflict: true }
        }
        const next = { version: expected + 1, writeId, record: structuredClone(record) }
        entries.set(name, next)
        if (write !== undefined) {
          const token = 'tokens' in record ? record.tokens.refresh_token : undefined
          seen.push({ who, name: write, version: next.version, ...(token === undefined ? {} : { token }) })
        }
        return structuredClone(next)
      },
    }
  }

  function sso(who: number): TokenIssuer {
    return {
      ...issuer,
      async refresh(tokens, { beforeSend, ...call } = {}) {
        const send = (): void => {
          beforeSend?.()
          seen.push({ who, name: 'request', token: tokens.refresh_token })
        }
        const answer = issuer.refresh(tokens, { ...call, beforeSend: send })
        const came = await answer.then(
          ({ refresh_token }) => ({ name: 'answer', token: refresh_token }) as const,
          (error: unknown) =>
            error instanceof ReauthenticationRequiredError
              ? ({ name: 'refusal', token: tokens.refresh_token } as const)
              : undefined,
        )
        if (crashed.has(who)) return never
        if (came !== undefined) seen.push({ who, ...came })
        return answer
      },
    }
  }

  function newest(): string | undefined {
    const record = entries.get(account)?.record
    return record?.state === 'signed-in' && record.predecessor ? record.tokens.access_token : undefined
  }

  function holder(): number | undefined {
    const record = entries.get(account)?.record
    if (record?.state !== 'signed-in' || record.intent === undefined || record.intent.answerLost) return undefined
    const who = seen.findLast(({ name }) => name === 'intent')?.who
    return who === undefined || crashed.has(who) ? undefined : who
  }

  const managerOf = (who: number): TokenManager =>
    createTokenManager({ issuer: sso(who), store: storeOf(who), minRefreshInterval: 0 })
  const person = managerOf(0)
  return {
    processes: [1, 2, 3].map(managerOf),
    signIn: async () => person.save(account, service.signIn()),
    signOut: async () => person.forget(account),
    willRefresh: (who) => void seen.push({ who, name: 'refresh()' }),
    pauseHolder() {
      const who = holder()
      if (who !== undefined && seen.findLast(({ name }) => name === 'intent' || name === 'pause')?.name === 'intent')
        seen.push({ who, name: 'pause' })
    },
    crash(who) {
      seen.push({ who, name: 'crash' })
      crashed.add(who)
    },
    isSending: (who) => ['intent', 'request'].includes(seen.findLast((last) => last.who === who)?.name ?? ''),
    holder,
    newest,
    seen,
    [Symbol.dispose]: () => end?.(new Error('The run is over.')),
  }
}

/** What kind of write a record of the account is, by what stood there before. */
function nameOf(next: TokenRecord, before: TokenRecord | undefined): Name {
  if (next.state === 'signed-out') return 'sign-out'
  if (next.state === 'reauthentication-required') return 'end'
  if (next.state !== 'signed-in') throw new Error(`An account's record is ${next.state}.`)
  if (before === undefined || !('session' in before) || before.session !== next.session) return 'sign-in'
  const isOtherToken = 'tokens' in before && before.tokens.access_token !== next.tokens.access_token
  if (isOtherToken && 'lineage' in before && before.lineage === next.lineage) return 'fall back'
  if (next.intent !== undefined) return next.intent.answerLost ? 'doubt' : 'intent'
  return 'lineage' in before && before.lineage === next.lineage ? 'no intent' : 'new tokens'
}

/**
 * The steps that the model has. It has none for a read that tells nothing new, for what a person's process reads, nor for a result
 * that meets a conflict and is stored over what is read then: that is one step.
 */
export function stepsOf(seen: readonly Seen[], { successors }: Pick<SmallService, 'successors'>): Step[] {
  const sets = tokenSets(seen, successors)
  const known = new Map<number, number>()
  const requested = new Set<number>()
  const steps: Step[] = []
  for (const [index, { who, name, version, token, instead }] of seen.entries()) {
    const isNews = name === 'read' && who !== 0 && known.get(who) !== version
    const next = seen.slice(index + 1).find((other) => other.who === who && !['read', 'conflict'].includes(other.name))
    const isOfCommit = requested.has(who) && (next?.name === 'new tokens' || next?.name === 'end')
    const isStep = name === 'read' ? isNews && !isOfCommit : name !== 'conflict' || instead === 'intent'
    if (name === 'request') requested.add(who)
    else if (version !== undefined && isStep) requested.delete(who)
    if (version !== undefined) known.set(who, version)
    if (!isStep) continue
    const set = name === 'request' || name === 'answer' || name === 'refusal' ? sets.get(token ?? '') : 0
    steps.push({ who: name === 'sign-in' || name === 'sign-out' ? 0 : who, name, detail: version ?? set ?? 0 })
  }
  return steps
}

/** Numbers of the token sets, by their refresh tokens, in the order in which the model issues them: at a sign-in or a request. */
function tokenSets(seen: readonly Seen[], successors: SmallService['successors']): Map<string, number> {
  const sets = new Map<string, number>()
  for (const { name, token = '' } of seen) {
    const issued = name === 'request' ? successors.get(token) : name === 'sign-in' ? token : undefined
    if (issued !== undefined && !sets.has(issued)) sets.set(issued, sets.size + 1)
  }
  return sets
}

/** As follow.c reads them. */
export function fileOf(steps: readonly Step[]): string {
  return steps.map(({ who, name, detail }) => `${who} ${names.indexOf(name)} ${detail}\n`).join('')
}
