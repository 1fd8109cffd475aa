/** The token manager over a store in memory, against the service over HTTP; the service's own counters are the judge. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { createSso, createTokenManager, type TokenManager } from '../../src/index.ts'
import { startEmulator, type Emulator } from '@owner-sso/emulator'
import { memoryTokenStore } from '@owner-sso/token-store-memory'

const account = 'plain@example.com'

let emulator: Emulator
let store: ReturnType<typeof memoryTokenStore>

beforeEach(async () => {
  emulator = await startEmulator({ firewall: false })
  store = memoryTokenStore()
})
afterEach(async () => emulator.close())

/** One of several processes that share the store; here they share the process as well. */
function manager(): TokenManager {
  const sso = createSso({ authUrl: emulator.authUrl })
  return createTokenManager({ issuer: sso, store, minRefreshInterval: 0 })
}

async function signedIn(tokens: TokenManager): Promise<string> {
  const sso = createSso({ authUrl: emulator.authUrl })
  await tokens.save(account, await sso.login({ identity: account, credential: 'correct horse' }))
  return tokens.getAccessToken(account)
}

async function callOwnerApi(accessToken: string): Promise<number> {
  const headers = { authorization: `Bearer ${accessToken}` }
  return (await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, { headers })).status
}

describe('the token manager', () => {
  it('rejects a refresh token under a second account, and names the first', async () => {
    await signedIn(manager())
    const stored = await store.read(account)
    const tokens = stored?.record.state === 'signed-in' ? stored.record.tokens : undefined
    const second = manager().save('second', tokens as NonNullable<typeof tokens>)
    await expect(second).rejects.toMatchObject({ name: 'DuplicateTokenSetError', account })
    expect(await manager().status('second')).toEqual({ state: 'signed-out' })
  })

  it('makes one refresh for a hundred callers of four managers', async () => {
    const managers = [manager(), manager(), manager(), manager()]
    const [first = manager()] = managers
    const old = await signedIn(first)
    const answers = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const tokens = managers[index % 4] ?? first
        await tokens.invalidate(account, old)
        return tokens.getAccessToken(account)
      }),
    )
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).not.toBe(old)
    expect(await callOwnerApi(answers[0] ?? '')).toBe(200)
    expect(emulator.counters).toMatchObject({ refreshRequests: 1, tokenRefreshes: 1, replays: 0 })
  })

  it('gets a new token after the owner API refused one before its time', async () => {
    const tokens = manager()
    const old = await signedIn(tokens)
    emulator.revokeAccessTokens(account)
    expect(await callOwnerApi(old)).toBe(401)
    await tokens.invalidate(account, old)
    expect(await callOwnerApi(await tokens.getAccessToken(account))).toBe(200)
    expect(emulator.counters.refreshRequests).toBe(1)
  })

  it('serves the old token while an answer is lost, and asks for a sign-in once the replay is answered with invalid_grant', async () => {
    const [tokens, other] = [manager(), manager()]
    const old = await signedIn(tokens)
    emulator.once('refresh', { drop: 'after-commit' })
    await expect(tokens.refresh(account)).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_IN_DOUBT' })
    expect(await tokens.status(account)).toMatchObject({ state: 'in-doubt' })
    expect(await Promise.all([tokens.getAccessToken(account), other.getAccessToken(account)])).toEqual([old, old])
    expect(emulator.counters).toMatchObject({ refreshRequests: 1, tokenRefreshes: 1, replays: 0 })
    await other.getAccessToken(account)
    await other.invalidate(account, old)
    await expect(other.getAccessToken(account)).rejects.toMatchObject({ reason: 'rotated_token_lost' })
    await expect(other.getAccessToken(account)).rejects.toMatchObject({ reason: 'rotated_token_lost' })
    expect(emulator.counters).toMatchObject({ refreshRequests: 2, replays: 1 })
  })

  it('keeps the refresh token where nothing of the request was sent', async () => {
    const tokens = manager()
    const old = await signedIn(tokens)
    await emulator.close()
    await expect(tokens.refresh(account)).rejects.toMatchObject({ code: 'ERR_SSO_UNREACHABLE', requestSent: false })
    expect(await tokens.status(account)).toMatchObject({ state: 'valid' })
    expect(await tokens.getAccessToken(account)).toBe(old)
    emulator = await startEmulator({ firewall: false })
  })

  it.each(['single-use', 'same', 'omit'] as const)(
    'refreshes again and again where the service’s rotation is %s',
    async (rotation) => {
      await emulator.close()
      emulator = await startEmulator({ firewall: false, rotation })
      const tokens = manager()
      const seen = new Set([await signedIn(tokens)])
      for (let refresh = 0; refresh < 3; refresh += 1) {
        await tokens.refresh(account)
        seen.add(await tokens.getAccessToken(account))
      }
      expect(seen.size).toBe(4)
      expect(emulator.counters).toMatchObject({ refreshRequests: 3, tokenRefreshes: 3 })
    },
  )

  it('stops with all other processes while the firewall blocks, and the account goes on afterwards', async () => {
    const [tokens, other] = [manager(), manager()]
    const old = await signedIn(tokens)
    emulator.once('refresh', { firewall: true })
    await expect(tokens.refresh(account)).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    await expect(other.refresh(account)).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    expect(await other.getAccessToken(account)).toBe(old)
    expect(emulator.counters.refreshRequests).toBeLessThanOrEqual(1)
  })
})
