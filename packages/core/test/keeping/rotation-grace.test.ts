/** A service that repeats its answer for a while: with `rotationGrace` the process that lost it asks once more in time. */
import { afterEach, describe, expect, it } from '@jest/globals'
import { type Emulator, type EmulatorOptions, startEmulator } from '@owner-sso/emulator'
import { createSso, createTokenManager, type TokenManager, type TokenManagerOptions } from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'

const account = 'owner@example.com'

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
  const process: World['process'] = (more) => createTokenManager({ issuer: sso, store, ...more })
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
    const { emulator, process } = await signedIn({ reuse: 'grace' })
    const tokens = process({ rotationGrace: 60 })
    emulator.once('refresh', { drop: 'after-commit' })
    const before = await tokens.getAccessToken(account)
    await tokens.refresh(account)
    expect(await tokens.getAccessToken(account)).not.toBe(before)
    expect(await tokens.status(account)).toMatchObject({ state: 'valid' })
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, replays: 1 })
  })

  it('is asked for once more, and not a third time', async () => {
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
})
