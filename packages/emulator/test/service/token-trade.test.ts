import { beforeEach, describe, expect, it } from '@jest/globals'
import type { Strictness } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import { Client } from '../client.ts'

const identity = 'plain@example.com'
const document = useEmulator()
const lenient = useEmulator({ strictness: 'lenient' })
const emulatorOf = (mode: Strictness): typeof document => (mode === 'document' ? document : lenient)

describe('POST /oauth/token of the owner API', () => {
  const ask = async (mode: Strictness, init: RequestInit): Promise<Response> =>
    fetch(`${emulatorOf(mode).ownerApiUrl}/oauth/token`, { method: 'POST', ...init })
  const trade = (mode: Strictness, token: string): Promise<Response> =>
    ask(mode, { headers: { authorization: `Bearer ${token}` } })
  const refresh = (refresh_token: string): Promise<Response> =>
    ask('lenient', {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ grant_type: 'refresh_token', refresh_token }),
    })

  interface Traded {
    readonly access_token: string
    readonly refresh_token: string
  }
  async function tradedTokens(answer: Response): Promise<Traded> {
    expect(answer.status).toBe(200)
    const tokens: Traded = JSON.parse(await answer.text())
    const text: unknown = expect.any(String)
    expect(tokens).toEqual({
      access_token: text,
      refresh_token: text,
      token_type: 'bearer',
      expires_in: 28_800,
      created_at: Math.floor(lenient.clock.now()),
    })
    const headers = { authorization: `Bearer ${tokens.access_token}` }
    expect((await fetch(`${lenient.ownerApiUrl}/api/1/vehicles`, { headers })).status).toBe(200)
    return tokens
  }

  beforeEach(() => lenient.clock.freeze())

  it('trades an access token for others with strictness lenient alone, and rejects any other', async () => {
    const { access_token } = await lenient.issueTokens(identity)
    const traded = await tradedTokens(await trade('lenient', access_token))
    expect(traded.access_token).not.toBe(access_token)
    expect((await trade('lenient', 'unknown')).status).toBe(401)
    expect((await trade('document', (await document.issueTokens(identity)).access_token)).status).toBe(404)
  })

  it('rejects a refresh without its token, and a body of more than 64 KiB', async () => {
    const { access_token } = await lenient.issueTokens(identity)
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${access_token}` }
    const without = await ask('lenient', { headers, body: JSON.stringify({ grant_type: 'refresh_token' }) })
    expect([without.status, await without.json()]).toEqual([
      400,
      {
        error: 'invalid_grant',
        error_description: 'The refresh token is unknown, expired or was not given here',
      },
    ])
    const body = (length: number): string => `"${'x'.repeat(length - 2)}"`
    expect((await ask('lenient', { headers, body: body(65_536) })).status).toBe(200)
    expect((await ask('lenient', { headers, body: body(65_537) })).status).toBe(413)
  })

  it.each([identity, 'regional@example.com'])('takes the refresh token of a trade, once (%s)', async (who) => {
    const traded = await tradedTokens(await trade('lenient', (await lenient.issueTokens(who)).access_token))
    const fresh = await tradedTokens(await refresh(traded.refresh_token))
    expect(fresh.refresh_token).not.toBe(traded.refresh_token)
    expect(lenient.requests.findLast(({ path }) => path === '/oauth/token')?.body).toEqual({
      grant_type: 'refresh_token',
      refresh_token: '[masked]',
    })
    expect((await refresh(traded.refresh_token)).status).toBe(400)
    expect((await refresh(fresh.refresh_token)).status).toBe(200)
    expect(lenient.counters).toMatchObject({ refreshRequests: 3, tokenRefreshes: 2, replays: 1 })
  })

  it('takes no refresh token of the service, and the service none of a trade', async () => {
    const { access_token, refresh_token } = await lenient.issueTokens(identity)
    const traded = await tradedTokens(await trade('lenient', access_token))
    expect((await refresh(refresh_token)).status).toBe(400)
    expect((await new Client(lenient).refresh(traded.refresh_token)).status).toBe(400)
    expect((await new Client(lenient).refresh(refresh_token)).status).toBe(200)
  })
})
