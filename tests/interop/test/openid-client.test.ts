import { describe, expect, it } from '@jest/globals'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { startEmulator, type Emulator } from '@owner-sso/emulator'
import * as client from 'openid-client'
import { isAccepted } from './legacy/accepted.ts'
import { configure, SCOPE, serverAt, signIn } from './legacy/openid-login.ts'

const identity = 'plain@example.com'

/** Where the service's public keys can be fetched: an address that only these tests have. */
async function serveKeys(emulator: Emulator): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(emulator.jwks))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const bound = server.address()
  const port = typeof bound === 'object' ? bound?.port : undefined
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

describe('openid-client', () => {
  it('signs in with S256, redeems the callback, and refreshes', async () => {
    await using emulator = await startEmulator({ strictness: 'lenient' })
    const config = configure(serverAt(emulator.authUrl))
    const { callback, checks } = await signIn(emulator, config, identity)
    const tokens = await client.authorizationCodeGrant(config, callback, checks)
    expect(await isAccepted(emulator, tokens.access_token)).toBe(true)
    expect(emulator.requests.at(-2)).toMatchObject({ path: '/oauth2/v3/token', status: 200 })

    const fresh = await client.refreshTokenGrant(config, tokens.refresh_token ?? '', { scope: SCOPE })
    expect(fresh.claims()).toMatchObject({ iss: `${emulator.authUrl}/oauth2/v3`, aud: 'ownerapi', email: identity })
    expect(fresh.access_token).not.toBe(tokens.access_token)
    expect(await isAccepted(emulator, fresh.access_token)).toBe(true)
    expect(emulator.counters).toMatchObject({ codeExchanges: 1, tokenRefreshes: 1 })
  })

  it('refreshes without a scope, and verifies the signature of the id token', async () => {
    await using emulator = await startEmulator({ strictness: 'lenient' })
    await using keys = await serveKeys(emulator)
    const config = configure(serverAt(emulator.authUrl, keys.url))
    client.enableNonRepudiationChecks(config)
    const { refresh_token } = await emulator.issueTokens(identity)
    const fresh = await client.refreshTokenGrant(config, refresh_token)
    expect(fresh.claims()?.['email']).toBe(identity)
  })

  it('signs in at the other region, whose issuer its id tokens name', async () => {
    await using emulator = await startEmulator({ strictness: 'lenient' })
    const config = configure(serverAt(emulator.regionalAuthUrl))
    const { callback, checks } = await signIn(emulator, config, 'regional@example.com')
    expect(callback.searchParams.get('issuer')).toBe(config.serverMetadata().issuer)
    const tokens = await client.authorizationCodeGrant(config, callback, checks)
    const fresh = await client.refreshTokenGrant(config, tokens.refresh_token ?? '')
    expect(fresh.claims()?.iss).toBe(`${emulator.regionalAuthUrl}/oauth2/v3`)
    expect(await isAccepted(emulator, fresh.access_token)).toBe(true)
  })

  it('rejects tokens of another issuer, and a callback of another login', async () => {
    await using emulator = await startEmulator({ strictness: 'lenient' })
    const server = { ...serverAt(emulator.authUrl), issuer: `${emulator.regionalAuthUrl}/oauth2/v3` }
    const { refresh_token } = await emulator.issueTokens(identity)
    await expect(client.refreshTokenGrant(configure(server), refresh_token)).rejects.toMatchObject({
      cause: { message: expect.stringContaining('"iss"') },
    })

    const config = configure(serverAt(emulator.authUrl))
    const { callback, checks } = await signIn(emulator, config, identity)
    const other = { ...checks, expectedState: client.randomState() }
    await expect(client.authorizationCodeGrant(config, callback, other)).rejects.toThrow(/response/u)
    expect(emulator.counters.codeExchanges).toBe(0)
  })

  it('reads the error of a service that keeps to the document: its requests are form encoded', async () => {
    await using emulator = await startEmulator()
    const config = configure(serverAt(emulator.authUrl))
    const { refresh_token } = await emulator.issueTokens(identity)
    await expect(client.refreshTokenGrant(config, refresh_token, { scope: SCOPE })).rejects.toMatchObject({
      error: 'invalid_request',
      error_description: 'The body must be application/json',
    })
  })
})
