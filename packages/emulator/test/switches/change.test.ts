import { describe, expect, it } from '@jest/globals'
import { useEmulator } from '../../src/jest.ts'
import { Client, codeOf, demoCredential, json } from '../client.ts'

const emulator = useEmulator({ rotation: 'same' })
const identity = 'plain@example.com'
const refreshed = async (): Promise<Record<string, string>> => {
  const { refresh_token } = await emulator.issueTokens(identity)
  const answer = json(await new Client(emulator).refresh(refresh_token))
  return { ...answer, kept: String(answer['refresh_token'] === refresh_token) }
}

/** As JavaScript calls it: with anything. */
function call(object: object, method: string, argument: unknown): unknown {
  return Reflect.apply(Reflect.get(object, method), object, [argument])
}

describe('change', () => {
  it('sets options from the next request on, several at once', async () => {
    expect(await refreshed()).toMatchObject({ kept: 'true', expires_in: 300 })
    emulator.change({ rotation: 'omit', expiresIn: 7 })
    const answer = await refreshed()
    expect(answer).toMatchObject({ expires_in: 7 })
    expect(answer).not.toHaveProperty('refresh_token')
  })

  it('puts an option back to its default where it is undefined; reset() puts all back to the options of the start', async () => {
    emulator.change({ rotation: undefined })
    expect(await refreshed()).toMatchObject({ kept: 'false' })
    emulator.reset()
    expect(await refreshed()).toMatchObject({ kept: 'true' })
  })

  it.each<[call: string, (none: never) => unknown]>([
    ['account', (none) => emulator.account(none)],
    ['issueTokens', (none) => emulator.issueTokens(none)],
    ['revokeAccessTokens', (none) => emulator.revokeAccessTokens(none)],
    ['expireRefreshTokens', (none) => emulator.expireRefreshTokens(none)],
  ])('%s() says which argument it lacks', async (_call, act) => {
    const called = (async () => act(undefined as never))()
    await expect(called).rejects.toThrow(new TypeError('identity must be the e-mail of an account'))
  })

  it.each<[string, unknown, string]>([
    ['a wrong value', { expiresIn: 7, rotation: 'sometimes' }, 'Option rotation must be'],
    ['an unknown option', { expiresIn: 7, colour: 'blue' }, 'Unknown option colour'],
    ['what was settled at the start', { expiresIn: 7, port: 80 }, "Option port can't change while the emulator runs"],
    ['no object', [], 'The options must be an object'],
  ])('rejects %s, and changes nothing', async (_, options, message) => {
    const change = (): unknown => call(emulator, 'change', options)
    expect(change).toThrow(TypeError)
    expect(change).toThrow(message)
    expect(await refreshed()).toMatchObject({ expires_in: 300 })
  })
})

describe('a login that has begun', () => {
  it('keeps the hidden inputs that its login page had', async () => {
    const client = new Client(emulator)
    const { hidden } = await client.open()
    emulator.change({ hiddenInputs: { rename: { _csrf: 'check' }, extra: { locale: 'en' }, inTemplate: true } })
    const again = (await client.post({ ...hidden, identity, credential: 'wrong' })).text
    expect(again).toContain('name="_csrf"')
    expect(again).not.toContain('text/html" class="template"')
    expect((await client.post({ ...hidden, identity, credential: demoCredential })).status).toBe(302)
    const { page } = await new Client(emulator).open()
    expect(page.text).toMatch(/class="template">\s*<input type="hidden" name="check"/u)
    expect(page.text).toContain('name="locale"')
  })

  it('keeps the lifetime of its tokens: they end when they said they would', async () => {
    const { access_token } = await emulator.issueTokens(identity)
    emulator.change({ accessTokenLifetime: 1 })
    emulator.clock.advance(60)
    const headers = { authorization: `Bearer ${access_token}` }
    expect((await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, { headers })).status).toBe(200)
  })

  it('meets the passcode page once, wherever mfaAt has moved it', async () => {
    const client = new Client(emulator)
    const { answer } = await client.authorize('mfa@example.com')
    emulator.change({ mfaAt: 'form-submission' })
    expect((await client.exchange(codeOf(answer))).text).toContain('name="passcode"')
    expect((await new Client(emulator).authorize('mfa@example.com')).answer.text).toContain('name="passcode"')
  })
})

describe('latency', () => {
  it('delays every answer, of the owner API and of unknown pages, too', async () => {
    emulator.change({ latency: 60 })
    for (const url of [
      `${emulator.authUrl}/oauth2/v3/authorize`,
      `${emulator.authUrl}/nowhere`,
      emulator.ownerApiUrl,
    ]) {
      const started = performance.now()
      await fetch(url)
      expect(performance.now() - started).toBeGreaterThanOrEqual(59)
    }
  })

  it('leaves the control API alone', async () => {
    emulator.change({ latency: 600_000 })
    expect((await fetch(`${emulator.authUrl}/_emulator/state`)).status).toBe(200)
  })
})

describe('an account', () => {
  it('is found by its e-mail address', () => {
    expect(emulator.account('PLAIN@example.com')).toBe(emulator.accounts[0])
    expect(() => emulator.account('nobody@example.com')).toThrow(TypeError)
  })

  it('is locked, meets a captcha or moves, and shows it', async () => {
    const account = emulator.account(identity)
    const signIn = async (): Promise<string> => (await new Client(emulator).authorize(identity)).answer.text
    account.change({ locked: true })
    expect(await signIn()).toContain('Your account has been locked')
    account.change({ locked: false, captcha: 'after-submission' })
    expect(await signIn()).toContain('Recaptcha is required')
    account.change({ captcha: false, region: 'regional' })
    expect((await new Client(emulator).open({ login_hint: identity })).page.status).toBe(303)
    expect(account).toMatchObject({ locked: false, captcha: false, region: 'regional' })
    emulator.reset()
    expect(account).toMatchObject({ locked: false, captcha: false, region: 'home' })
  })

  it('rejects a switch that does not exist, and changes nothing', () => {
    const account = emulator.account(identity)
    const change = (switches: unknown): unknown => call(account, 'change', switches)
    expect(() => change({ region: 'regional', locked: 'yes' })).toThrow('Account switch locked must be true or false')
    expect(() => change({ credential: 'x' })).toThrow('Unknown account switch credential')
    expect(account).toMatchObject({ locked: false, region: 'home' })
  })
})

describe('a scenario', () => {
  it('is applied on top of what is set, by its name', async () => {
    emulator.change({ expiresIn: 9 })
    emulator.applyScenario('rotation-lost')
    await expect(refreshed()).rejects.toThrow('fetch failed')
    expect(await refreshed()).toMatchObject({ expires_in: 9, kept: 'false' })
    expect(() => call(emulator, 'applyScenario', 'toString')).toThrow('Unknown scenario toString')
  })
})
