/** Tokens that live for minutes or seconds: whoever asks gets one that still works. The emulator says whether it does. */
import { afterEach, describe, expect, it } from '@jest/globals'
import { type Emulator, type EmulatorOptions, startEmulator } from '@owner-sso/emulator'
import { createSso, ssoOf } from '../../src/login/create-sso.ts'
import { createTokenManager, type TokenManager, type TokenSet } from '../../src/index.ts'
import { manageTokens } from '../../../token-manager/src/manager/manager.ts'
import { machine } from '../../../token-manager/src/kernel/machine.ts'
import { systemRuntime } from '../../../token-manager/src/support/runtime.ts'
import { createSsoContext } from '../../src/login/sso-context.ts'
import { parseSsoOptions, type SsoOptions } from '../../src/service/options.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'

const account = 'owner@example.com'
let emulator: Emulator

afterEach(() => emulator.close())

async function start(options: EmulatorOptions): Promise<void> {
  emulator = await startEmulator({ firewall: false, inspector: false, ...options })
}

/** A sign-in whose access token ends when the service says so. */
async function signedIn(life: number): Promise<TokenSet> {
  const { access_token, refresh_token } = await emulator.issueTokens('plain@example.com')
  const expires_at = Math.floor(emulator.clock.now()) + life
  return { access_token, refresh_token, token_type: 'Bearer', expires_at, auth_url: emulator.authUrl }
}

/** A process whose clocks are the service's, `ahead` seconds ahead. */
function processOf(store: ReturnType<typeof mapStore>, options: Partial<SsoOptions>, ahead = 0): TokenManager {
  const now = (): number => emulator.clock.now() + ahead
  const milliseconds = (): number => now() * 1000
  const sso = ssoOf(createSsoContext(parseSsoOptions({ authUrl: emulator.authUrl, ...options }), now))
  const runtime = { ...systemRuntime, wallClock: milliseconds, monotonicClock: milliseconds }
  return manageTokens({ issuer: sso, store }, runtime, machine)
}

async function works(token: string): Promise<boolean> {
  const url = new URL('/api/1/vehicles', emulator.ownerApiUrl)
  return (await fetch(url, { headers: { authorization: `Bearer ${token}` } })).ok
}

describe('at most one call in a hundred gets a token that has ended (F6)', () => {
  const kinds: [string, EmulatorOptions, (life: number) => Partial<SsoOptions>][] = [
    ['JWTs', {}, () => ({})],
    ['opaque tokens and the number set', { accessTokenFormat: 'opaque' }, (life) => ({ accessTokenLifetime: life })],
  ]
  const paces = [300, 30].flatMap((life) => [
    { life, calls: 240, period: life / 60 },
    { life, calls: 24, period: life / 4.1 },
    { life, calls: 24, period: life * 0.9 },
  ])
  it.each(kinds.flatMap(([kind, emulated, options]) => paces.map((pace) => ({ kind, emulated, options, ...pace }))))(
    'where $kind live $life s and somebody asks every $period s',
    async ({ emulated, options, life, calls, period }) => {
      await start({ accessTokenLifetime: life, expiresIn: 300, ...emulated })
      emulator.clock.freeze()
      const store = mapStore()
      // The second one's clock is wrong by less than the margin.
      const processes = [processOf(store, options(life)), processOf(store, options(life), 1)]
      await processes[0]?.save(account, await signedIn(life))
      let dead = 0
      for (let call = 0; call < calls; call += 1) {
        const token = await processes[call % 2]?.getAccessToken(account)
        if (token === undefined || !(await works(token))) dead += 1
        emulator.clock.advance(period)
      }
      expect(dead).toBeLessThanOrEqual(calls / 100)
      expect(emulator.counters.replays).toBe(0)
      // And none is refreshed much before its time: at two thirds of its life.
      expect(emulator.counters.tokenRefreshes).toBeLessThanOrEqual(Math.ceil((calls * period) / (life * 0.6)))
    },
  )
})

// A machine that stands still for half a life gives dead tokens: the life is one that a busy one does not stand still for.
it('by real clocks: no call of six seconds gets a token that has ended, where tokens live for five', async () => {
  await start({ accessTokenLifetime: 5 })
  const sso = createSso({ authUrl: emulator.authUrl })
  const tokens = createTokenManager({ issuer: sso, store: mapStore(), minRefreshInterval: 1 })
  await tokens.save(account, await signedIn(5))
  const given = new Set<string>()
  let dead = 0
  for (const end = Date.now() + 6000; Date.now() < end;) {
    const token = await tokens.getAccessToken(account)
    given.add(token)
    const { exp } = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    if (Date.now() / 1000 >= exp) dead += 1
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await tokens.settled()
  expect(dead).toBe(0)
  expect(given.size).toBeGreaterThanOrEqual(2)
})
