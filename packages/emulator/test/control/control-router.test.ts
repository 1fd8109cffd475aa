import { describe, expect, it } from '@jest/globals'
import { useEmulator } from '../../src/jest.ts'
import { Client } from '../client.ts'

const emulator = useEmulator()

/** What `GET /_emulator/state` shows, as far as these tests look at it. */
interface State {
  readonly clock: { readonly now: number; readonly offset: number; readonly frozen: boolean }
  readonly firewall: { readonly blockedUntil: number | null }
  readonly options: Readonly<Record<string, unknown>>
  readonly accounts: readonly Readonly<Record<string, unknown>>[]
  readonly faults: Readonly<Record<string, { readonly always: unknown; readonly once: readonly unknown[] }>>
  readonly failures: readonly object[]
  readonly error_description?: string
}

async function call(method: string, path: string, body?: unknown): Promise<{ status: number; state: State }> {
  const json = { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const answer = await fetch(`${emulator.authUrl}/_emulator${path}`, { method, ...(body !== undefined && json) })
  return { status: answer.status, state: JSON.parse(await answer.text()) }
}

const plain = '/accounts/plain@example.com'

describe('GET /state', () => {
  it('shows every option with its value', async () => {
    emulator.change({ rotation: 'omit' })
    const { options } = (await call('GET', '/state')).state
    expect(options).toMatchObject({ rotation: 'omit', port: 0, accounts: expect.arrayContaining(['mfa@example.com']) })
  })

  it('shows accounts with their passcodes, and no credential', async () => {
    emulator.clock.freeze()
    const answer = await fetch(`${emulator.authUrl}/_emulator/state`)
    const text = await answer.text()
    const { accounts }: State = JSON.parse(text)
    const account = emulator.account('mfa@example.com')
    const secondsLeft = 30 - (emulator.clock.now() % 30)
    expect(accounts[1]).toMatchObject({
      identity: 'mfa@example.com',
      region: 'home',
      locked: false,
      captcha: false,
      backupCodesLeft: 5,
      factors: [
        { name: 'Device #1', passcode: account.passcode('Device #1'), secondsLeft: expect.closeTo(secondsLeft, 5) },
        { name: 'Tablet', passcode: account.passcode('Tablet') },
      ],
    })
    expect(text).not.toContain('correct horse')
    expect(text).not.toContain('JBSWY3DPEHPK3PXP')
  })

  it('shows the firewall and the faults of once and always, with functions and promises as words', async () => {
    emulator.always('token', { status: 503, hold: Promise.resolve() })
    emulator.once('refresh', () => undefined)
    emulator.once('refresh', { drop: 'after-commit' })
    emulator.firewall.block(60)
    const { faults, firewall } = (await call('GET', '/state')).state
    expect(faults).toMatchObject({
      token: { always: { status: 503, hold: 'promise' }, once: [] },
      refresh: { always: null, once: [{ transform: 'function' }, { drop: 'after-commit' }] },
      'owner-api': { always: null, once: [] },
    })
    expect(firewall.blockedUntil).toBeCloseTo(emulator.clock.now() + 60, 0)
  })

  it('is served beside the inspector’s page and its files', async () => {
    const typeOf = async (path: string): Promise<readonly unknown[]> => {
      const answer = await fetch(`${emulator.authUrl}/_emulator${path}`)
      return [answer.status, answer.headers.get('content-type')]
    }
    expect(await typeOf('/')).toEqual([200, 'text/html; charset=utf-8'])
    expect(await typeOf('/assets/inspector.css')).toEqual([200, 'text/css; charset=utf-8'])
    for (const none of ['none.css', 'constructor', '..%2Findex.js'])
      expect((await typeOf(`/assets/${none}`))[0]).toBe(404)
    const { headers } = await fetch(`${emulator.authUrl}/_emulator`)
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/u)
  })

  it('is neither logged nor counted', async () => {
    await call('GET', '/state')
    await call('PATCH', '/options', { latency: 0 })
    expect(emulator.requests).toEqual([])
  })
})

describe('a change', () => {
  it('of options is answered with the state, and null puts one back to its default', async () => {
    const { status, state } = await call('PATCH', '/options', { rotation: 'omit', expiresIn: null, latency: 5 })
    expect([status, state.options['rotation'], state.options['expiresIn']]).toEqual([200, 'omit', null])
    const back = await call('PATCH', '/options', { rotation: null, latency: null })
    expect(['rotation', 'latency', 'expiresIn'].map((name) => back.state.options[name])).toEqual([
      'single-use',
      0,
      null,
    ])
  })

  it('of an account: its switches, its tokens', async () => {
    const { state } = await call('PATCH', plain, { locked: true, region: 'regional' })
    expect(state.accounts[0]).toMatchObject({ locked: true, region: 'regional', captcha: false })
    const { access_token, refresh_token } = await emulator.issueTokens('plain@example.com')
    expect((await call('DELETE', `${plain}/access-tokens`)).status).toBe(200)
    expect((await call('DELETE', `${plain}/refresh-tokens`)).status).toBe(200)
    const headers = { authorization: `Bearer ${access_token}` }
    expect((await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, { headers })).status).toBe(401)
    const regional = new Client(emulator, { base: emulator.regionalAuthUrl })
    expect((await regional.refresh(refresh_token)).text).toContain('login_required')
  })

  it('of the clock: jump, advance and freeze in one call; and reset', async () => {
    const { state } = await call('POST', '/clock', { jump: '2030-01-01T00:00:00Z', advance: 60, frozen: true })
    expect(state.clock).toMatchObject({ now: expect.closeTo(Date.UTC(2030, 0, 1) / 1000 + 60, 0), frozen: true })
    expect((await call('POST', '/clock', { frozen: false })).state.clock.frozen).toBe(false)
    expect((await call('POST', '/clock', { reset: true })).state.clock.offset).toBe(0)
    expect((await call('POST', '/clock', { jump: 1000 })).state.clock.now).toBeCloseTo(1000, 0)
  })

  it('of the firewall: everybody is blocked, for a time, or no longer', async () => {
    const client = new Client(emulator)
    await call('POST', '/firewall', { block: true })
    expect((await client.open()).page.status).toBe(403)
    emulator.clock.advance(901)
    expect((await client.open()).page.status).toBe(200)
    await call('POST', '/firewall', { block: 5 })
    expect((await client.open()).page.status).toBe(403)
    expect((await call('POST', '/firewall', { lift: true })).state.firewall).toEqual({ blockedUntil: null })
    expect((await client.open()).page.status).toBe(200)
  })

  it('of faults: always, once, none', async () => {
    const client = new Client(emulator)
    const status = async (): Promise<number> => (await client.exchange('x')).status
    await call('PUT', '/faults/token', { status: 503 })
    await call('POST', '/faults/token', { status: 502 })
    expect([await status(), await status()]).toEqual([502, 503])
    await call('POST', '/faults/token', { status: 502 })
    expect((await call('DELETE', '/faults/token')).state.faults['token']).toEqual({ always: null, once: [] })
    expect(await status()).toBe(400)
  })

  it('by scenarios, and back', async () => {
    const { state } = await call('POST', '/scenarios/slow-service')
    expect(state.options['latency']).toBe(3000)
    await call('PATCH', '/options', { rotation: 'omit', latency: 0 })
    await call('PATCH', plain, { locked: true })
    await call('PUT', '/faults/token', { status: 503 })
    await call('POST', '/clock', { advance: 3600, frozen: true })
    await new Client(emulator).open()
    await call('POST', '/firewall', { block: true })
    const reset = (await call('POST', '/reset')).state
    expect(reset.accounts.map(({ locked }) => locked)).toEqual([false, false, false])
    expect(reset.options['rotation']).toBe('single-use')
    expect(reset.faults['token']).toEqual({ always: null, once: [] })
    expect(reset.firewall.blockedUntil).toBeNull()
    // As emulator.reset(): the clock is the machine's again, and no request is remembered.
    expect(reset.clock).toMatchObject({ frozen: false, offset: 0 })
    expect([emulator.requests, emulator.counters.loginPages]).toEqual([[], 0])
  })
})

describe('wrong input', () => {
  it.each<[string, string, unknown, string]>([
    ['PATCH', '/options', { rotation: 'sometimes' }, "Option rotation must be 'single-use' or 'same' or 'omit'"],
    ['PATCH', '/options', { latency: 5, tls: true }, "Option tls can't change"],
    ['PATCH', '/accounts/nobody@example.com', { locked: true }, 'no account nobody@example.com'],
    ['PATCH', plain, { locked: 1 }, 'Account switch locked must be true or false'],
    ['DELETE', '/accounts/nobody@example.com/access-tokens', undefined, 'no account nobody@example.com'],
    ['POST', '/clock', { jump: 'tomorrow' }, 'Field jump must be'],
    ['POST', '/clock', { advance: '5' }, 'Field advance must be a number of seconds'],
    ['POST', '/firewall', { block: -1 }, 'Field block must be'],
    ['PUT', '/faults/tokens', {}, 'Unknown endpoint tokens'],
    ['PUT', '/faults/token', { drop: 'sometime' }, 'Field drop must be'],
    ['POST', '/faults/token', { hold: true }, 'Field hold must be a promise'],
    ['DELETE', '/faults/tokens', undefined, 'Unknown endpoint tokens'],
    ['POST', '/scenarios/doomsday', {}, 'Unknown scenario doomsday: one of rotation-lost'],
  ])('%s %s %j: 400 that names it', async (method, path, body, message) => {
    const before = JSON.stringify((await call('GET', '/state')).state.options)
    const { status, state } = await call(method, path, body)
    expect([status, state]).toEqual([
      400,
      { error: 'invalid_request', error_description: expect.stringContaining(message) },
    ])
    expect(JSON.stringify((await call('GET', '/state')).state.options)).toBe(before)
  })

  it('a body that is no JSON, or a path that does not exist, is answered with 400 or 404', async () => {
    const headers = { 'content-type': 'application/json' }
    const broken = await fetch(`${emulator.authUrl}/_emulator/options`, { method: 'PATCH', headers, body: '{' })
    expect([broken.status, await broken.json()]).toEqual([
      400,
      { error: 'invalid_request', error_description: 'The body could not be read' },
    ])
    expect((await call('PATCH', '/accounts/%ff', {})).status).toBe(400)
    expect((await call('POST', '/nowhere', {})).status).toBe(404)
  })
})
