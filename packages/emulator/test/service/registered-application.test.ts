/** The official kind of service, as an application meets it that was registered there. */
import { expect, it, describe } from '@jest/globals'
import { decodeJwt } from 'jose'
import type { Emulator } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'

const [clientId, clientSecret] = ['app', 'the secret']
const account = 'plain@example.com'
const redirect_uri = 'https://app.example.com/callback'
const emulator = useEmulator({ service: 'registered', clientId, clientSecret })

interface Answer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

async function post(fields: Readonly<Record<string, string>>, at: string = emulator.tokenUrl): Promise<Answer> {
  const answer = await fetch(`${at}/oauth2/v3/token`, { method: 'POST', body: new URLSearchParams(fields) })
  const isJson = answer.headers.get('content-type')?.includes('json') ?? false
  return { status: answer.status, body: isJson ? JSON.parse(await answer.text()) : {} }
}

/** As strangers ask: without a challenge, with scopes of their own. */
async function code(): Promise<string> {
  const query = new URLSearchParams({ client_id: clientId, redirect_uri, response_type: 'code', state: 's' })
  query.set('scope', 'openid offline_access vehicle_device_data')
  const address = await emulator.signInByHand(`${emulator.authUrl}/oauth2/v3/authorize?${query.toString()}`)
  return new URL(address).searchParams.get('code') ?? ''
}

const client = { client_id: clientId, client_secret: clientSecret }
const exchange = { grant_type: 'authorization_code', ...client, redirect_uri }
const refresh = { grant_type: 'refresh_token', ...client }

function ask({ ownerApiUrl }: Emulator, token: unknown): Promise<Response> {
  return fetch(`${ownerApiUrl}/api/1/vehicles`, { headers: { authorization: `Bearer ${String(token)}` } })
}

it('gives tokens for an audience, and new ones for the refresh token, at a host of their own', async () => {
  const { status, body } = await post({ ...exchange, code: await code(), audience: emulator.ownerApiUrl })
  expect([status, Object.keys(body).toSorted()]).toEqual([
    200,
    ['access_token', 'expires_in', 'id_token', 'refresh_token', 'state', 'token_type'],
  ])
  expect(decodeJwt(String(body['id_token']))).toMatchObject({ aud: clientId, azp: clientId, email: account })
  const refreshed = await post({ ...refresh, refresh_token: String(body['refresh_token']) })
  for (const token of [body['access_token'], refreshed.body['access_token']]) {
    expect(decodeJwt(String(token))['aud']).toContain(emulator.ownerApiUrl)
    expect((await ask(emulator, token)).status).toBe(200)
  }
  expect(await post({ ...refresh, refresh_token: 'x' }, emulator.authUrl)).toMatchObject({ status: 404 })
})

it('refuses a body in JSON, and spends nothing for it', async () => {
  const { refresh_token } = await emulator.issueTokens(account)
  const answer = await fetch(`${emulator.tokenUrl}/oauth2/v3/token`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ ...refresh, refresh_token }),
  })
  expect([answer.status, await answer.json()]).toEqual([
    400,
    { error: 'invalid_request', error_description: 'The body must be application/x-www-form-urlencoded' },
  ])
  expect((await post({ ...refresh, refresh_token })).status).toBe(200)
})

it.each([
  ['another secret', { client_secret: 'the secres' }],
  ['no secret', { client_secret: '' }],
  ['another id', { client_id: 'ownerapi' }],
])('refuses %s with 401 invalid_client, and spends nothing for it', async (_what, wrong) => {
  const { refresh_token } = await emulator.issueTokens(account)
  const answer = await post({ ...refresh, refresh_token, ...wrong })
  expect(answer).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
  expect((await post({ ...refresh, refresh_token })).status).toBe(200)
})

it('takes a refresh without a secret where it is lenient, and no exchange', async () => {
  emulator.change({ strictness: 'lenient' })
  const { refresh_token } = await emulator.issueTokens(account)
  const { client_secret: _, ...bare } = refresh
  expect((await post({ ...bare, refresh_token })).status).toBe(200)
  const { client_secret: __, ...bareExchange } = exchange
  expect((await post({ ...bareExchange, code: await code(), audience: emulator.ownerApiUrl })).status).toBe(401)
})

it('wants an audience at the exchange', async () => {
  const { status, body } = await post({ ...exchange, code: await code() })
  expect([status, body]).toEqual([400, { error: 'invalid_request', error_description: 'Missing audience (a string)' }])
})

it('takes a verifier only if it belongs to the challenge that came', async () => {
  const query = new URLSearchParams({ client_id: clientId, redirect_uri, response_type: 'code', state: 's' })
  query.set('scope', 'openid')
  query.set('code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM')
  query.set('code_challenge_method', 'S256')
  const at = `${emulator.authUrl}/oauth2/v3/authorize?${query.toString()}`
  const audience = emulator.ownerApiUrl
  for (const [code_verifier, status] of [
    ['dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk', 200],
    ['dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXX', 400],
    ['', 400],
  ] as const) {
    const came = new URL(await emulator.signInByHand(at)).searchParams.get('code') ?? ''
    expect((await post({ ...exchange, code: came, audience, code_verifier })).status).toBe(status)
  }
})

it.each([
  ['of another client', { client_id: 'ownerapi' }],
  ['to an address that is not registered', { redirect_uri: 'https://app.example.org/callback' }],
  ['for nothing', { scope: '' }],
])('shows no login form to a request %s', async (_what, wrong) => {
  const query = new URLSearchParams({
    client_id: clientId,
    redirect_uri,
    response_type: 'code',
    state: 's',
    scope: 'openid',
    ...wrong,
  })
  expect((await fetch(`${emulator.authUrl}/oauth2/v3/authorize?${query.toString()}`)).status).toBe(400)
})

describe('tokens of one API at the other', () => {
  const refused = [401, { response: null, error: 'invalid bearer token', error_description: '' }]
  const answerTo = async (token: unknown): Promise<unknown[]> => {
    const answer = await ask(emulator, token)
    return [answer.status, await answer.json()]
  }

  it.each(['document', 'current'] as const)('are refused by the one of service %s', async (service) => {
    const { access_token } = await emulator.issueTokens(account)
    emulator.change({ service })
    expect(await answerTo(access_token)).toEqual(refused)
    const other = await emulator.issueTokens(account)
    emulator.change({ service: 'registered' })
    expect(await answerTo(other.access_token)).toEqual(refused)
    expect((await ask(emulator, access_token)).status).toBe(200)
  })

  it('are refused in another region', async () => {
    const { body } = await post({ ...exchange, code: await code(), audience: 'https://api.eu.example.com' })
    expect(await answerTo(body['access_token'])).toEqual(refused)
  })
})

it('shows the secret in no log and no state', async () => {
  await post({ ...refresh, refresh_token: 'x' })
  const state = await (await fetch(`${emulator.authUrl}/_emulator/state`)).text()
  expect(state).toContain('clientSecret')
  expect(state + JSON.stringify(emulator.requests)).not.toContain(clientSecret)
})
