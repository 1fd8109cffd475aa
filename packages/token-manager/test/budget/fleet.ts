/**
 * A simulated fleet: the real token manager and the real keeper in many processes, on a virtual clock, over one store; a service
 * that rotates each refresh token at its use, and can be away.
 *
 * A million accounts for a month have to be affordable: what is known of an account are numbers in a few arrays, and no account
 * has a timer of its own.
 */
import {
  type IssuerRefreshOptions,
  type Keeper,
  keepSignedIn,
  ReauthenticationRequiredError,
  type RequestBudget,
  type TokenManager,
  type TokenSet,
  UnreachableError,
} from '../../src/index.ts'
import type { Runtime } from '../../src/support.ts'
import { jwtExpiry } from '../../src/issuer/jwt-expiry.ts'
import { manageTokens } from '../../src/manager/manager.ts'
import { machine } from '../../src/kernel/machine.ts'
import { chance } from '../refresh-protocol/simulation/chance.ts'
import { virtualTime } from '../virtual-time.ts'
import { fleetStore } from './fleet-store.ts'
import { createTraffic, type Traffic } from './traffic.ts'

export interface FleetOptions {
  readonly accounts: number
  /** Of these, so many are asked for by callers; nobody asks for the others. */
  readonly used: number
  readonly processes: number
  readonly requestBudget: RequestBudget
  /** Seconds that an access token lives. */
  readonly life: number
  /** Seconds that a refresh token lives if nobody uses it; the keeper is told. Without it: for ever, which nobody knows. */
  readonly session?: number | undefined
  /** Seconds between two calls for an account that is used. */
  readonly pollEvery: number
}

export interface Fleet {
  /** Seconds since the beginning. */
  now(): number
  run(seconds: number): Promise<void>
  /** From now on the service can't be reached. */
  isAway: boolean
  readonly traffic: Traffic
  /** Refresh tokens that came twice. */
  replays(): number
  /** Accounts whose owner has to sign in again. */
  lost(): number
  /** Access tokens that somebody needs and that ended before the next were issued, since the last time somebody asked. */
  ended(): number
  /** By the account's number: when its newest tokens were issued, in seconds since the beginning. */
  readonly issued: Float64Array
  /** The same of the first ones since `watch` was called; 0 where there were none. */
  readonly firstIssued: Float64Array
  watch(): void
  readonly isUsed: (account: number) => boolean
  /** Whether somebody sees to it that the account has an access token that works: a caller, or a keeper that knows no better. */
  readonly isKeptFresh: (account: number) => boolean
  /** Seconds between two sweeps of the keeper. */
  readonly sweepEvery: number
  /** How the calls since the last time ended, by token or code. */
  outcomes(): Record<string, number>
  /** When the last call ended without a token, in seconds since the beginning. */
  lastWithoutToken(): number
  close(): Promise<void>
}

const begin = Date.UTC(2026, 0, 1)
const authUrl = 'http://127.0.0.1:9'
/** Of so many calls for an account, one goes to another process than the others, as a load balancer has it now and then. */
const oneElsewhereOf = 16

export async function startFleet(options: FleetOptions): Promise<Fleet> {
  // A keeper loads it when it needs it, and a virtual clock does not wait for a disk.
  await jwtExpiry()
  const { accounts, used, processes, life, session, pollEvery, requestBudget } = options
  const within = session === undefined ? life / 8 : session / 10
  const sweepEvery = session === undefined ? life / 32 : within / 8
  const time = virtualTime()
  const now = (): number => time.now() / 1000
  const random = chance(7)
  const store = fleetStore()
  const names = Array.from({ length: accounts }, (_, index) => `owner-${index}`)
  const issued = new Float64Array(accounts)
  const firstIssued = new Float64Array(accounts)
  const rotations = new Uint32Array(accounts)
  const traffic = createTraffic(requestBudget.perMinute)
  let [replays, ended, isAway] = [0, 0, false]
  const lost = new Set<string>()
  let outcomes: Record<string, number> = {}

  const isUsed = (account: number): boolean => account < used
  const isKeptFresh = (account: number): boolean => session === undefined || isUsed(account)

  function issue(index: number): TokenSet {
    const rotation = (rotations[index] = (rotations[index] ?? 0) + 1)
    issued[index] = now()
    firstIssued[index] ||= now()
    return {
      access_token: `a${index}.${rotation}`,
      refresh_token: `${index}.${rotation}`,
      token_type: 'Bearer',
      expires_at: Math.floor((begin + time.now()) / 1000) + life,
      auth_url: authUrl,
    }
  }

  async function refresh({ refresh_token }: TokenSet, { beforeSend }: IssuerRefreshOptions = {}): Promise<TokenSet> {
    await new Promise<void>((resolve) => void time.at(time.now() + 50 + 100 * random(), resolve))
    if (isAway) throw new UnreachableError('No connection.', { requestSent: false })
    beforeSend?.()
    traffic.count(now())
    const [index = 0, rotation] = refresh_token.split('.').map(Number)
    const isReplay = rotations[index] !== rotation
    const age = now() - (issued[index] ?? 0)
    if (isReplay) replays += 1
    if (isReplay || age >= (session ?? Number.POSITIVE_INFINITY)) {
      throw new ReauthenticationRequiredError('refresh_token_rejected', { requestSent: true })
    }
    if (age >= life && isKeptFresh(index)) ended += 1
    return issue(index)
  }

  function start(index: number): TokenManager {
    const skew = Math.round((random() - 0.5) * 240_000)
    let ids = 0
    const runtime: Runtime = {
      wallClock: () => begin + time.now() + skew,
      monotonicClock: () => time.now() + 1e6 * index,
      random,
      uniqueId: () => `${index}-${(ids += 1)}`,
      after: (milliseconds, callback) => time.at(time.now() + milliseconds, callback),
      keepAlive: () => () => undefined,
      holder: { pid: index, boot: 'one', pidNamespace: `namespace-${index}` },
      livenessOf: () => 'unknown',
    }
    const cachedAccounts = Math.ceil((used / processes) * 1.25) + 100
    const tokens = manageTokens({ issuer: { refresh }, store, requestBudget, cachedAccounts }, runtime, machine)
    tokens.on('reauthentication-required', ({ account }) => lost.add(account))
    return tokens
  }

  const managers = Array.from({ length: processes }, (_, index) => start(index))
  const toCount = (outcome: string): void => void (outcomes[outcome] = (outcomes[outcome] ?? 0) + 1)
  const withToken = (): void => toCount('token')
  let lastWithoutToken = 0
  const withError = (error: unknown): void => {
    lastWithoutToken = now()
    toCount(error instanceof Error && 'code' in error ? String(error.code) : 'unknown')
  }

  /** Calls for the accounts whose turn it is in this second: their turns are spread over `pollEvery`. */
  function poll(second: number): void {
    const [round, slot] = [Math.floor(second / pollEvery), second % pollEvery]
    const end = Math.ceil(((slot + 1) * used) / pollEvery)
    for (let turn = Math.ceil((slot * used) / pollEvery); turn < end; turn += 1) {
      // Those of one process are not next to each other.
      const index = (turn * step) % used
      if (issued[index] === 0) continue
      const isElsewhere = (round + index) % oneElsewhereOf === 0
      managers[(index + (isElsewhere ? 1 + round : 0)) % processes]
        ?.getAccessToken(names[index] ?? '')
        .then(withToken, withError)
    }
    time.at(time.now() + 1000, () => poll(second + 1))
  }
  const step = stride(used)
  time.at(0, () => poll(0))

  /** They sign in one after the other, in an order of its own, over the time after which their tokens are refreshed. */
  const signInFor = session === undefined ? life * 0.75 : session - within
  function signIn(second: number): void {
    const end = Math.min(accounts, Math.ceil(((second + 1) * accounts) / signInFor))
    for (let turn = Math.ceil((second * accounts) / signInFor); turn < end; turn += 1) {
      const index = (turn * stride(accounts)) % accounts
      void managers[index % processes]?.save(names[index] ?? '', issue(index))
    }
    if (end < accounts) time.at(time.now() + 1000, () => signIn(second + 1))
  }
  time.at(500, () => signIn(0))
  let keepers: Keeper[] = []
  time.at(life * 500, () => {
    keepers = managers.map((tokens) =>
      keepSignedIn(tokens, { within, every: sweepEvery, refreshTokenLifetime: session }),
    )
  })

  return {
    now,
    run: (seconds) => time.run(time.now() + seconds * 1000),
    get isAway() {
      return isAway
    },
    set isAway(away) {
      isAway = away
    },
    traffic,
    replays: () => replays,
    lost: () => lost.size,
    ended() {
      const counted = ended
      ended = 0
      return counted
    },
    issued,
    firstIssued,
    watch: () => void firstIssued.fill(0),
    isUsed,
    isKeptFresh,
    sweepEvery,
    outcomes() {
      const counted = outcomes
      outcomes = {}
      return counted
    },
    lastWithoutToken: () => lastWithoutToken,
    async close() {
      const ends = keepers.map((keeper) => keeper.stop())
      await Promise.all([...ends, time.run(time.now() + 60_000)])
    },
  }
}

/** A step that leads through all numbers below `count`, in no order that processes or turns have. */
function stride(count: number): number {
  const gcd = (one: number, other: number): number => (other === 0 ? one : gcd(other, one % other))
  let step = Math.floor(count * 0.618)
  while (gcd(count, step) !== 1) step += 1
  return step
}
