/**
 * Token managers for the tests: over the memory store, with a token that is easy to look for, or signed in at the emulator.
 */
import { createSso, createTokenManager, type TokenManager } from '@owner-sso/core'
import type { Emulator } from '@owner-sso/emulator'
import { memoryTokenStore } from '@owner-sso/token-store-memory'

export const account = 'plain@example.com'

/** As long as a real one. */
export const token = `header.${'payload0'.repeat(80)}.TOKEN-CANARY-${'signature'.repeat(30)}-END`

/** One account with a token that never ends within a test. */
export async function tokensOf(accessToken: string = token): Promise<TokenManager> {
  const tokens = createTokenManager({
    issuer: { refresh: () => Promise.reject(new Error('nothing is refreshed here')) },
    store: memoryTokenStore(),
  })
  await tokens.save(account, {
    access_token: accessToken,
    refresh_token: 'refresh',
    token_type: 'Bearer',
    expires_at: Math.floor(Date.now() / 1000) + 28_800,
    auth_url: 'https://auth.example.com',
  })
  return tokens
}

/** The demo account, signed in at the emulator. */
export async function signedInTokens(emulator: Emulator): Promise<TokenManager> {
  const sso = createSso({
    authUrl: emulator.authUrl,
    regionalAuthUrls: [emulator.regionalAuthUrl],
    tls: { ...(emulator.ca !== undefined && { ca: emulator.ca }) },
  })
  const tokens = createTokenManager({ issuer: sso, store: memoryTokenStore(), minRefreshInterval: 0 })
  await tokens.save(account, await sso.login({ identity: account, credential: 'correct horse' }))
  return tokens
}
