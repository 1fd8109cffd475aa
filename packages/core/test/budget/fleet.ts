/**
 * A simulated fleet: the real token manager and the real keeper in many processes, on a virtual clock, over one store; a service
 * that rotates each refresh token at its use, and can be away.
 */
import { type Keeper, keepSignedIn } from '../../src/keeper/keeper.ts'
import { UnreachableError } from '../../src/errors.ts'
import type { RequestBudget } from '../../src/budget/request-budget.ts'
import type { IssuerRefreshOptions } from '../../src/issuer/token-issuer.ts'
import type { TokenSet } from '../../src/issuer/token-set.ts'
import { manageTokens } from '../../src/refresh-protocol/manager.ts'
import { rules } from '../../src/refresh-protocol/rules.ts'
import type { Runtime } from '../../src/refresh-protocol/runtime.ts'
import type { TokenManager } from '../../src/tokens/token-manager.ts'
import { mapStore } from '../map-store.ts'
import { chance } from '../refresh-protocol/simulation/chance.ts'
import { virtualTime } from '../virtual-time.ts'

export interface FleetOptions {
  readonly accounts: number
  /** Of these, so many are asked for by callers; nobody asks for the others. */
  readonly used: number
  readonly processes: number
  readonly requestBudget: RequestBudget
  /** Seconds that an access token lives. */
  readonly life: number
  /** Seconds between two calls for an account that is used. */
  readonly pollEvery: number
}

export interface Fleet {
  /** Seconds since the beginning. */
  now(): number
  run(seconds: number): Promise<void>
  /** From now on the service can't be reached. */
  isAway: boolean
  /** When refresh requests were written, in seconds since the beginning. */
  readonly sent: number[]
  /** Refresh tokens that came twice. */
  readonly replays: () => number
  /** By account: when its newest tokens were issued, in seconds since the beginning. */
  readonly issued: ReadonlyMap<string, number>
  readonly isUsed: (account: string) => boolean
  /** Seconds between two sweeps of the keeper. */
  readonly sweepEvery: number
  /** How the calls of the last while ended, by token or code; begins anew. */
  outcomes(): Record<string, number>
  close(): Promise<void>
}

const begin = Date.UTC(2026, 0, 1)
const authUrl = 'http://127.0.0.1:9'

export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { life, requestBudget } = options
  const sweepEvery = life / 12
  const time = virtualTime()
  const random = chance(7)
  const store = mapStore()
  const names = Array.from({ length: options.accounts }, (_, index) => `owner-${index}`)
  const current = new Map<string, string>()
  const issued = new Map<string, number>()
  const sent: number[] = []
  let replays = 0
  let serial = 0
  let outcomes: Record<string, number> = {}
  const pass = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => void time.at(time.now() + milliseconds, resolve))

  function issue(name: string): TokenSet {
    const refresh_token = `${name}/${(serial += 1)}`
    current.set(name, refresh_token)
    issued.set(name, time.now() / 1000)
    const expires_at = Math.floor((begin + time.now()) / 1000) + life
    return { access_token: `a${serial}`, refresh_token, token_type: 'Bearer', expires_at, auth_url: authUrl }
  }

  async function refresh(tokens: TokenSet, { beforeSend }: IssuerRefreshOptions = {}): Promise<TokenSet> {
    await pass(50 + 100 * random())
    if (fleet.isAway) throw new UnreachableError('No connection.', { requestSent: false })
    beforeSend?.()
    sent.push(time.now() / 1000)
    const [name = ''] = tokens.refresh_token.split('/')
    if (current.get(name) !== tokens.refresh_token) replays += 1
    return issue(name)
  }

  function process(index: number): TokenManager {
    const skew = Math.round((random() - 0.5) * 240_000)
    const runtime: Runtime = {
      wallClock: () => begin + time.now() + skew,
      monotonicClock: () => time.now() + 1e6 * index,
      random,
      uniqueId: () => `id-${(serial += 1)}`,
      after: (milliseconds, callback) => time.at(time.now() + milliseconds, callback),
      keepAlive: () => () => undefined,
      holder: { pid: index, boot: 'one', pidNamespace: `namespace-${index}` },
      livenessOf: () => 'unknown',
    }
    return manageTokens({ sso: { refresh }, store, requestBudget, cachedAccounts: 2000 }, runtime, rules)
  }

  const managers = Array.from({ length: options.processes }, (_, index) => process(index))
  const isUsed = (account: string): boolean => Number(account.slice('owner-'.length)) < options.used
  /** Each account is asked for by the process whose turn it is. */
  const poll = (name: string, turn: number): void => {
    const call = managers[turn % managers.length]?.getAccessToken(name)
    const count = (outcome: string): void => void (outcomes[outcome] = (outcomes[outcome] ?? 0) + 1)
    call?.then(
      () => count('token'),
      (error: unknown) => count(error instanceof Error && 'code' in error ? String(error.code) : 'unknown'),
    )
    time.at(time.now() + options.pollEvery * 1000, () => poll(name, turn + 1))
  }

  // They sign in over the length of a token's life, as people do.
  for (const [index, name] of names.entries()) {
    const at = (index * 7919) % names.length
    time.at((at * life * 1000) / names.length, () => {
      void managers[index % managers.length]?.save(name, issue(name))
      if (isUsed(name)) poll(name, index)
    })
  }
  let keepers: Keeper[] = []
  time.at(life * 500, () => {
    keepers = managers.map((tokens) => keepSignedIn(tokens, { within: life / 3, every: sweepEvery }))
  })

  const fleet: Fleet = {
    now: () => time.now() / 1000,
    run: (seconds) => time.run(time.now() + seconds * 1000),
    isAway: false,
    sent,
    replays: () => replays,
    issued,
    isUsed,
    sweepEvery,
    outcomes() {
      const counted = outcomes
      outcomes = {}
      return counted
    },
    async close() {
      const ends = keepers.map((keeper) => keeper.stop())
      await Promise.all([...ends, time.run(time.now() + 60_000)])
    },
  }
  return fleet
}
