import { describe, expect, it } from '@jest/globals'
import { useEmulator } from '../../src/jest.ts'
import type { ExchangeLine } from '../../src/inspector/inspector-router.ts'
import type { Exchange } from '../../src/journal/exchange.ts'
import { Client, codeOf, demoCredential, json, locationOf } from '../client.ts'

const emulator = useEmulator()

async function inspect<Shape>(path: string): Promise<Shape> {
  const answer = await fetch(`${emulator.authUrl}/_emulator/${path}`)
  const shape: Shape = JSON.parse(await answer.text())
  return shape
}

async function exchanges(): Promise<readonly ExchangeLine[]> {
  return (await inspect<{ exchanges: readonly ExchangeLine[] }>('exchanges')).exchanges
}

async function decisions(): Promise<readonly (string | undefined)[]> {
  return (await exchanges()).map(({ decision }) => decision)
}

async function callOwnerApi(token: string | undefined): Promise<void> {
  await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, { headers: { authorization: `Bearer ${token}` } })
}

/** A login with a second factor: the document's seven requests. */
async function loginWithPasscode(client: Client): Promise<Record<string, string>> {
  const account = emulator.account('mfa@example.com')
  const step = await client.reachPasscode(account.identity)
  await client.factors(step.transaction_id)
  await client.verify(step, account, { passcode: '000000' })
  await client.verify(step, account)
  const form = { ...step.hidden, identity: account.identity, credential: demoCredential }
  return json(await client.exchange(codeOf(await client.post(form))))
}

describe('what was decided', () => {
  it('is said of each step of a login with a passcode, of the refreshes after it, and of a replay', async () => {
    const client = new Client(emulator)
    const tokens = await loginWithPasscode(client)
    await client.refresh(tokens['refresh_token'])
    await client.refresh(tokens['refresh_token'])
    await callOwnerApi(tokens['access_token'])
    await callOwnerApi('none-of-ours')
    expect(await decisions()).toEqual([
      'a session began: the login page',
      'a code issued, the passcode is due at the exchange',
      'the account has a second factor: the passcode page',
      '2 factors listed',
      'wrong passcode, 1 of 5',
      'the passcode of Device #1 is right',
      'signed in: a code issued',
      'tokens issued',
      'tokens issued, the refresh token rotated',
      'a spent refresh token was presented again',
      'the access token is good',
      'invalid_token: The access token is unknown, expired or revoked',
    ])
    const refused = (await exchanges()).filter((exchange) => exchange.refused)
    expect(refused.map(({ endpoint, status }) => [endpoint, status])).toEqual([
      ['mfa-verify', 200],
      ['refresh', 400],
      ['owner-api', 401],
    ])
  })

  it('names the region, the wrong credential and the broken rule', async () => {
    await new Client(emulator).open({ login_hint: 'regional@example.com' })
    await new Client(emulator).authorize('plain@example.com', 'wrong')
    await new Client(emulator).open({ state: '' })
    expect(await decisions()).toEqual([
      'the account lives in the other region',
      'a session began: the login page',
      'the login page again: We could not sign you in',
      'refused: The parameter state must be a random string.',
    ])
    expect((await exchanges()).map(({ refused }) => refused)).toEqual([false, false, true, true])
  })

  it('names the reason of the firewall, and marks its answers', async () => {
    await new Client(emulator, { userAgent: 'Mozilla/5.0' }).open()
    await new Client(emulator, { userAgent: 'Mozilla/5.0' }).open()
    expect(await exchanges()).toMatchObject([
      { status: 403, challenged: true, decision: 'challenged by the firewall: its User-Agent is a browser’s' },
      { status: 403, challenged: true, decision: 'challenged by the firewall: this client is blocked' },
    ])
  })

  it('is recorded also where a fault swallowed the answer, and the fault is named', async () => {
    const client = new Client(emulator)
    const tokens = await client.login('plain@example.com')
    emulator.once('refresh', { drop: 'after-commit', delay: 1 })
    await expect(client.refresh(tokens['refresh_token'])).rejects.toThrow('fetch failed')
    emulator.once('refresh', { status: 503, body: 'nothing to see', headers: { 'x-hint': 'secret-1' } })
    await client.refresh(tokens['refresh_token'])
    emulator.once('refresh', { firewall: true })
    await client.refresh(tokens['refresh_token'])
    const [lost, unavailable, challenged] = (await exchanges()).slice(-3)
    expect(lost).toMatchObject({
      status: 0,
      decision: 'tokens issued, the refresh token rotated',
      fault: 'drop: after-commit, delay: 1',
    })
    expect(unavailable).toMatchObject({ status: 503, fault: 'status: 503, body, headers', challenged: false })
    expect(challenged).toMatchObject({ status: 403, fault: 'firewall', challenged: true })
  })
})

describe('the login that a request belongs to', () => {
  it('is one over both regions, the exchange, the refreshes and the owner API, and nobody else’s', async () => {
    const start = new Client(emulator)
    const other = new Client(emulator)
    const redirect = await start.open({ login_hint: 'regional@example.com' })
    await other.open()
    const regional = new Client(emulator, { base: locationOf(redirect.page).origin })
    const same = { code_challenge: start.challenge }
    const { hidden } = await regional.open(same)
    const form = { ...hidden, identity: 'regional@example.com', credential: demoCredential }
    const code = codeOf(await regional.post(form, regional.query(same)))
    const tokens = json(await regional.exchange(code, { code_verifier: start.verifier }))
    await callOwnerApi(tokens['access_token'])
    const fresh = json(await regional.refresh(tokens['refresh_token']))
    await callOwnerApi(fresh['access_token'])
    const all = await exchanges()
    const flow = all[0]?.flow
    expect(all.map((exchange) => [exchange.endpoint, exchange.place, exchange.flow === flow])).toEqual([
      ['login-page', 'home', true],
      ['login-page', 'home', false],
      ['login-page', 'regional', true],
      ['form-submission', 'regional', true],
      ['token', 'regional', true],
      ['owner-api', 'owner-api', true],
      ['refresh', 'regional', true],
      ['owner-api', 'owner-api', true],
    ])
    expect(all.map(({ identity }) => identity)).toEqual([
      'regional@example.com',
      undefined,
      ...Array.from({ length: 6 }, () => 'regional@example.com'),
    ])
  })

  it('is found by the code challenge, even if the client still sends the last login’s cookie', async () => {
    const first = new Client(emulator)
    await first.open()
    const second = new Client(emulator)
    for (const [name, value] of first.cookies) second.cookies.set(name, value)
    await second.open()
    const [one, two] = await exchanges()
    expect(one?.flow).not.toBe(two?.flow)
  })

  it('begins with tokens that were issued without a login', async () => {
    const { access_token, refresh_token } = await emulator.issueTokens('plain@example.com')
    await callOwnerApi(access_token)
    await new Client(emulator).refresh(refresh_token)
    const [called, refreshed] = await exchanges()
    expect(called).toMatchObject({ flow: expect.any(Number), identity: 'plain@example.com' })
    expect(refreshed?.flow).toBe(called?.flow)
  })

  it('is empty for a request that belongs to none', async () => {
    await fetch(`${emulator.authUrl}/nowhere`)
    await callOwnerApi('unknown')
    await new Client(emulator).refresh('unknown')
    expect((await exchanges()).map(({ flow, endpoint }) => [flow, endpoint])).toEqual([
      [undefined, undefined],
      [undefined, 'owner-api'],
      [undefined, 'refresh'],
    ])
  })
})

describe('an exchange that is asked for', () => {
  it('is shown whole, secrets masked', async () => {
    const client = new Client(emulator)
    await client.login('plain@example.com')
    const [page, form, exchange] = await exchanges()
    const detail = await inspect<Exchange>(`exchanges/${form?.id}`)
    expect(detail.request.body).toMatchObject({ identity: 'plain@example.com', credential: '[masked]' })
    expect(detail.answer?.headers['location']).toMatch(/code=\[masked\]&state=some%20state&issuer=http/u)
    expect(await inspect(`exchanges/${exchange?.id}`)).toMatchObject({
      answer: { body: { access_token: '[masked]', token_type: 'Bearer', expires_in: 300 } },
    })
    expect(await inspect(`exchanges/${page?.id}`)).toMatchObject({
      answer: { body: { page: 'Sign in', inputs: { _csrf: '[masked]' } } },
    })
  })

  it('is gone after reset()', async () => {
    await new Client(emulator).open()
    const [page] = await exchanges()
    emulator.reset()
    expect(await exchanges()).toEqual([])
    expect(await inspect(`exchanges/${page?.id}`)).toMatchObject({ error: 'not_found' })
  })
})
