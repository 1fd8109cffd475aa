/** A service that repeats its answer for a while: with `rotationGrace` the process that lost it asks once more in time. */
import { afterEach, describe, expect, it } from '@jest/globals'
import { type Emulator, type EmulatorOptions, startEmulator } from '@owner-sso/emulator'
import { createSso } from '../../src/login/create-sso.ts'
import { SsoTimeoutError } from '../../src/errors.ts'
import { createTokenManager } from '../../src/tokens/create-token-manager.ts'
import type { TokenManager, TokenManagerOptions } from '../../src/tokens/token-manager.ts'
import { mapStore } from '../map-store.ts'
import { account, bench, deferred, hours, idle } from './harness.ts'

const running: Emulator[] = []

afterEach(async () => {
  for (const emulator of running.splice(0)) await emulator.close()
})

interface World {
  readonly emulator: Emulator
  readonly process: (options?: Partial<TokenManagerOptions>) => TokenManager
}

/** An account whose access token works. */
async function signedIn(options: EmulatorOptions): Promise<World> {
  const emulator = await startEmulator({ firewall: false, inspector: false, ...options })
  running.push(emulator)
  const sso = createSso({ authUrl: emulator.authUrl })
  const store = mapStore()
  const process: World['process'] = (more) => createTokenManager({ sso, store, ...more })
  const { access_token, refresh_token } = await emulator.issueTokens('plain@example.com')
  const expires_at = Math.floor(Date.now() / 1000) + 3600
  await process().save(account, {
    access_token,
    refresh_token,
    token_type: 'Bearer',
    expires_at,
    auth_url: emulator.authUrl,
  })
  return { emulator, process }
}

describe('a lost answer of a service that repeats it (H22)', () => {
  it('is asked for once more at once by the process that lost it, and nobody notices', async () => {
    const { emulator, process } = await signedIn({ reuse: 'grace', graceSeconds: 60 })
    const tokens = process({ rotationGrace: 60 })
    emulator.once('refresh', { drop: 'after-commit' })
    const before = await tokens.getAccessToken(account)
    await tokens.refresh(account)
    expect(await tokens.getAccessToken(account)).not.toBe(before)
    expect(await tokens.status(account)).toMatchObject({ state: 'valid' })
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, replays: 1 })
  })

  it('is asked for once more only once', async () => {
    const { emulator, process } = await signedIn({ reuse: 'grace' })
    const tokens = process({ rotationGrace: 60 })
    for (let time = 0; time < 2; time += 1) emulator.once('refresh', { drop: 'after-commit' })
    await tokens.refresh(account).catch(() => undefined)
    await tokens.getAccessToken(account)
    expect(await tokens.status(account)).toMatchObject({ state: 'in-doubt' })
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, replays: 1 })
  })
})

describe('nothing is replayed early', () => {
  const lost = async (): Promise<never> => {
    throw new SsoTimeoutError('no answer', { requestSent: true })
  }

  it.each<[string, EmulatorOptions]>([
    ['strict', {}],
    ['one that revokes the family', { reuse: 'revoke-family' }],
    ['graceful', { reuse: 'grace' }],
  ])('without the option, where the service is %s', async (_, options) => {
    const { emulator, process } = await signedIn(options)
    const tokens = process()
    emulator.once('refresh', { drop: 'after-commit' })
    await tokens.refresh(account).catch(() => undefined)
    const other = process({ rotationGrace: 3600 })
    for (let call = 0; call < 5; call += 1) {
      await tokens.getAccessToken(account)
      await other.getAccessToken(account)
    }
    await other.settled()
    expect(emulator.counters).toMatchObject({ refreshRequests: 1, replays: 0 })
  })

  it('by another process than the one that lost the answer', async () => {
    const world = bench()
    const [holder, other] = [world.process(), world.process({ rotationGrace: 60 })]
    await holder.save(account, world.tokens())
    await world.pass(hours(7))
    world.answer = lost
    await holder.getAccessToken(account)
    await idle()
    await other.getAccessToken(account)
    await world.pass(1000)
    expect(world.sent).toEqual(['r0'])
  })

  it('once the grace is over, counted from the request by the clock that shows more', async () => {
    for (const [grace, later] of [
      [20, (world: ReturnType<typeof bench>) => world.pass(20_000)],
      [3600, async (world: ReturnType<typeof bench>) => world.jump(hours(0.9) + 3_600_000)],
    ] as const) {
      const world = bench()
      const tokens = world.process({ rotationGrace: grace })
      await tokens.save(account, world.tokens({ expires_at: world.now() / 1000 + 24 * 3600 }))
      await world.pass(hours(20))
      const answer = deferred<never>()
      world.answer = () => answer.promise
      await tokens.getAccessToken(account)
      await idle()
      await later(world)
      answer.reject(new SsoTimeoutError('no answer', { requestSent: true }))
      await world.pass(1000)
      await tokens.getAccessToken(account)
      await idle()
      expect(world.sent).toEqual(['r0'])
    }
  })

  it('by a process that is held up between its decision and the request until the grace is over', async () => {
    const world = bench()
    const tokens = world.process({ rotationGrace: 5 })
    await tokens.save(account, world.tokens())
    await world.pass(hours(7))
    world.answer = lost
    const swap = world.store.swap.bind(world.store)
    world.store.swap = async (...write) => {
      const answer = await swap(...write)
      const [, , next] = write
      if (next.state === 'signed-in' && next.intent?.replay === 1) world.jump(6000)
      return answer
    }
    await tokens.getAccessToken(account)
    await idle()
    expect(world.sent).toEqual(['r0'])
    expect(await tokens.status(account)).toMatchObject({ state: 'in-doubt' })
  })
})

it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('rotationGrace: %p is refused', (rotationGrace) => {
  expect(() => bench().process({ rotationGrace })).toThrow(/rotationGrace must be seconds/u)
})
