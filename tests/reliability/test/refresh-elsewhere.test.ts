/**
 * U: refresh here, serve there. Four processes behind a firewall that answers the token host with its page, and one at home that
 * refreshes, over one store. The firewall counts what knocks at it.
 */
import { describe, expect, test } from '@jest/globals'
import type { EmulatorOptions } from '@owner-sso/emulator'
import { account, atEnd, deploy, type Deployment, life } from './deployment/deployment.ts'
import { figure, seededRandom, until } from './deployment/figures.ts'
import { type StoreRow, storesOf } from './deployment/stores.ts'
import { startWall, type Wall } from './deployment/wall.ts'
import type { Worker } from './deployment/worker.ts'

const hour = 3600
const servers = 4
const callers = figure(5, 25)
const answered = { 200: servers * callers }

interface Place extends Pick<Deployment, 'emulator' | 'pass' | 'tokens' | 'replace'> {
  readonly wall: Wall
  readonly home: () => Worker
  readonly servers: () => readonly Worker[]
  signIn(): Promise<void>
  homeOff(): Promise<void>
  homeOn(): Promise<void>
  calm(): Promise<void>
}

async function place(store: StoreRow, options: EmulatorOptions = {}): Promise<Place> {
  const wall = await startWall()
  atEnd(() => wall.close())
  const deployment = await deploy({
    store,
    processes: 1 + servers,
    emulator: options,
    // To the servers every address of the service is the firewall's: that of its pages, and that of tokens of each instance.
    role(index, { authUrl, regionalAuthUrl }) {
      if (index === 0) return {}
      const tokenUrl = { [authUrl]: wall.url, [regionalAuthUrl]: wall.url }
      const service = { authUrl: wall.url, regionalAuthUrls: [authUrl, regionalAuthUrl], tokenUrl }
      return { service, manager: { refresh: 'elsewhere' } }
    },
  })
  const { emulator, pass, tokens, calm } = deployment
  let home: Worker = deployment.worker(0)
  return {
    wall,
    emulator,
    pass,
    tokens,
    calm,
    home: () => home,
    servers: () => deployment.workers.filter((worker) => worker !== home),
    signIn: async () => home.signIn(account, await tokens()),
    async replace(worker) {
      const next = await deployment.replace(worker)
      if (worker === home) home = next
      return next
    },
    async homeOff() {
      await home.signal('SIGKILL')
    },
    async homeOn() {
      home = await deployment.start({}, 0)
    },
  }
}

/** All callers of all servers at once; how often they saw what. */
async function serve({ servers: all, emulator }: Place): Promise<Record<string, number>> {
  const total: Record<string, number> = {}
  for (const seen of await Promise.all(all().map((worker) => worker.call(account, emulator.ownerApiUrl, callers)))) {
    for (const [status, count] of Object.entries(seen)) total[status] = (total[status] ?? 0) + count
  }
  return total
}

/** A program at home that calls too. */
const atHome = ({ home, emulator }: Place): Promise<unknown> => home().call(account, emulator.ownerApiUrl, 1)

const told = (worker: Worker): boolean => worker.reports.some(({ event }) => event === 'not-refreshed')

interface Mode {
  readonly name: string
  readonly emulator: EmulatorOptions
  /** Refreshes in a life of the access token of a sign-in, at the most, once the account is known. */
  readonly refreshes: number
}

const modes: readonly Mode[] = [
  { name: 'refuses refreshed tokens by 401', emulator: { refreshedTokens: { status: 401, after: 0 } }, refreshes: 1 },
  { name: 'refuses them by 403', emulator: { refreshedTokens: { status: 403, after: 0 } }, refreshes: 1 },
  { name: 'takes them for an hour', emulator: { refreshedTokens: { status: 401, after: hour } }, refreshes: 2 },
  { name: 'takes them, and the old one ends at a refresh', emulator: { oldAccessToken: 'ends' }, refreshes: 1 },
  { name: 'takes them beside the old one', emulator: {}, refreshes: 1 },
]
const signIns = figure(3, 21)
const scenarios = modes.flatMap((mode, index) => storesOf(index).map((store) => ({ ...mode, store })))

describe('a week', () => {
  test.each(scenarios)(
    'U1: an owner API that $name, $store.name: no call fails, and nothing knocks at the firewall',
    async ({ emulator: options, refreshes, store }) => {
      const at = await place(store, options)
      const random = seededRandom()
      const seen: Record<string, number>[] = []
      for (let count = 0; count < signIns; count += 1) {
        await at.signIn()
        let passed = 0
        for (const time of [0, 1, 2, 3, 4, 5, 6.7, 6.8, 7.5, 7.9, 7.975, 7.99]) {
          await at.pass(time * hour - passed)
          passed = time * hour
          const isFirst = random() < 0.5
          if (isFirst) await atHome(at)
          const [counts] = await Promise.all([serve(at), atHome(at)])
          seen.push(counts)
          await at.calm()
        }
        await at.pass(life - passed - 20)
      }
      expect(seen).toEqual(seen.map(() => answered))
      expect(at.wall.knocks()).toBe(0)
      expect(at.emulator.counters.replays).toBe(0)
      // Twice at three quarters, until the account is known.
      expect(at.emulator.counters.tokenRefreshes).toBeLessThanOrEqual(2 + refreshes * signIns)
    },
  )
})

describe.each(storesOf(1))('$name', (store) => {
  test('U2: home is off for six hours: told in time, no call fails, and back home nothing is replayed', async () => {
    const at = await place(store)
    await at.signIn()
    await at.pass(1.5 * hour)
    expect(await serve(at)).toEqual(answered)
    await at.homeOff()
    const { refresh_due_at = 0 } = await at.servers()[0]!.status(account)
    const untilDue = refresh_due_at - at.emulator.clock.now()
    await at.pass(untilDue)
    expect(await serve(at)).toEqual(answered)
    expect(at.servers().filter(told)).toEqual([])
    await at.pass(45)
    // One of them has no callers any more: it looks by itself.
    const [, ...asked] = at.servers()
    await Promise.all(asked.map((worker) => worker.call(account, at.emulator.ownerApiUrl, 1)))
    await Promise.all(at.servers().map((worker) => worker.reported(({ event }) => event === 'not-refreshed')))
    for (const worker of at.servers()) {
      expect(await worker.status(account)).toMatchObject({ state: 'valid', not_refreshed_since: expect.any(Number) })
    }
    await at.pass(6 * hour - untilDue - 45)
    expect(await serve(at)).toEqual(answered)
    await at.homeOn()
    await atHome(at)
    await at.calm()
    for (let time = 0; time < 8; time += 1) {
      await at.pass(0.5 * hour)
      expect(await serve(at)).toEqual(answered)
      await at.calm()
    }
    for (const worker of at.servers()) expect(await worker.status(account)).not.toHaveProperty('not_refreshed_since')
    expect(at.servers().map(({ reports }) => reports.filter(({ event }) => event === 'not-refreshed').length)).toEqual(
      at.servers().map(() => 1),
    )
    expect(at.emulator.counters).toMatchObject({ tokenRefreshes: 1, refreshRequests: 1, replays: 0 })
    expect(at.wall.knocks()).toBe(0)
  })

  test('U3: home is off over the end of the token: calls say so, nobody is signed out, and all is well once it is back', async () => {
    const at = await place(store)
    await at.signIn()
    expect(await serve(at)).toEqual(answered)
    await at.pass(5 * hour)
    await at.homeOff()
    await at.pass(6 * hour)
    for (const worker of at.servers()) worker.forget()
    const calls = serve(at)
    await until(() => at.servers().every(({ reports }) => reports.some(({ reached }) => reached === 'read')))
    await at.pass(31)
    expect(await calls).toEqual({ ERR_SSO_REFRESH_ELSEWHERE: servers * callers })
    // Those who come next do not wait.
    expect(await serve(at)).toEqual({ ERR_SSO_REFRESH_ELSEWHERE: servers * callers })
    expect(at.servers().every(told)).toBe(true)
    await at.homeOn()
    await atHome(at)
    expect(await serve(at)).toEqual(answered)
    expect(at.emulator.counters).toMatchObject({ tokenRefreshes: 1, refreshRequests: 1, replays: 0 })
    expect(at.wall.knocks()).toBe(0)
  })
})

describe.each(storesOf(2))('$name', (store) => {
  test('U4: a token that is refused where no other works: who is at home refreshes, though nobody calls there', async () => {
    const at = await place(store, { refreshedTokens: { status: 401, after: hour } })
    await at.signIn()
    await at.pass(7.95 * hour)
    // It holds the account from now on.
    await atHome(at)
    await at.calm()
    await at.pass(0.2 * hour)
    expect(await serve(at)).toEqual(answered)
    await at.calm()
    await at.pass(hour)
    expect(await serve(at)).toEqual(answered)
    expect(at.emulator.counters).toMatchObject({ tokenRefreshes: 2, replays: 0 })
    expect(at.wall.knocks()).toBe(0)
  })

  test('U5: kill -9 on either side, but between an answer and its save: no call fails, and nobody signs in again', async () => {
    const random = seededRandom()
    // Not between the answer and its save: no protocol can mend that.
    const at = await place(store)
    await at.signIn()
    const points = ['before-intent', 'after-intent', 'after-result'] as const
    const lives = figure(4, 60)
    for (let count = 0; count < lives; count += 1) {
      const point = points[count % points.length]!
      // It has refreshed before: what it reached then is not what is waited for.
      at.home().forget()
      await at.home().arm(point, { kind: 'wait' })
      const { obtained_at = 0 } = await at.home().status(account)
      await at.pass(obtained_at + 6.7 * hour - at.emulator.clock.now())
      const call = atHome(at).catch(() => undefined)
      await at.home().reached(point)
      const server = at.servers()[Math.floor(random() * servers)]!
      await Promise.all([at.replace(at.home()), at.replace(server)])
      await call
      expect(await serve(at)).toEqual(answered)
      // Where an answer was lost it is asked for again shortly before the end.
      await at.pass(1.27 * hour)
      await atHome(at)
      await at.calm()
      expect(await serve(at)).toEqual(answered)
      await at.pass(0.1 * hour)
      await atHome(at)
      expect(await serve(at)).toEqual(answered)
      await at.calm()
    }
    expect(await at.home().status(account)).toMatchObject({ state: 'valid' })
    expect(at.wall.knocks()).toBe(0)
  })

  test.each([
    ['the servers’ clocks ten minutes off to either side', 0, [600, -600, 600, -600]],
    ['the servers’ clocks an hour off to either side', 0, [hour, -hour, hour, -hour]],
    ['the clock at home an hour ahead', hour, [0, 0, 0, 0]],
    ['the clock at home an hour behind', -hour, [0, 0, 0, 0]],
  ])('U6: %s: no call fails, and one refresh a life', async (_, home, off) => {
    const at = await place(store)
    await at.home().move({ wall: home * 1000 })
    await Promise.all(at.servers().map((worker, index) => worker.move({ wall: (off[index] ?? 0) * 1000 })))
    await at.signIn()
    const lives = figure(2, 21)
    for (let passed = 0; passed < lives * life; passed += 0.25 * hour) {
      await atHome(at)
      expect(await serve(at)).toEqual(answered)
      await at.calm()
      await at.pass(0.25 * hour)
    }
    const { counters } = at.emulator
    // At three quarters of a life.
    expect(counters.tokenRefreshes).toBeLessThanOrEqual(Math.ceil((lives * life) / (0.6 * life)))
    expect(counters).toMatchObject({ refreshRequests: counters.tokenRefreshes, replays: 0 })
    expect(at.wall.knocks()).toBe(0)
  })
})

test('U7: nobody signs in behind the firewall', async () => {
  const [store] = storesOf(0)
  const at = await place(store!)
  const [server] = at.servers()
  const credentials = { identity: 'plain@example.com', credential: 'correct horse' }
  await expect(server!.logIn(account, credentials)).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_ELSEWHERE' })
  await server!.signIn(account, await at.tokens())
  expect(await serve(at)).toEqual(answered)
  expect(at.wall.knocks()).toBe(0)
})
