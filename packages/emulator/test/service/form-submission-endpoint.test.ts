import { describe, expect, it } from '@jest/globals'
import { startEmulator } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import { Client, demoCredential, hiddenInputsOf, locationOf } from '../client.ts'

const identity = 'plain@example.com'
const emulator = useEmulator()

describe('POST /oauth2/v3/authorize', () => {
  it('redirects with code, state and issuer, in that order, and sets the session cookie again', async () => {
    const { answer } = await new Client(emulator).authorize(identity)
    expect(answer.status).toBe(302)
    const location = locationOf(answer)
    expect(location.origin + location.pathname).toBe(`${emulator.authUrl}/void/callback`)
    expect([...location.searchParams.keys()]).toEqual(['code', 'state', 'issuer'])
    expect(location.searchParams.get('state')).toBe('some state')
    expect(location.searchParams.get('issuer')).toBe(`${emulator.authUrl}/oauth2/v3`)
    expect(answer.headers.getSetCookie().join()).toContain('sso.sid=')
  })

  it.each(['_csrf', '_phase', '_process', 'transaction_id', 'cancel'])(
    'rejects the form when the hidden input %s is missing or changed',
    async (name) => {
      const client = new Client(emulator)
      const { hidden } = await client.open()
      const form = { ...hidden, identity, credential: demoCredential }
      const status = name === '_csrf' ? 403 : 400
      expect((await client.post({ ...form, [name]: undefined })).status).toBe(status)
      const changed = await client.post({ ...form, [name]: 'changed' })
      const words =
        name === '_csrf' ? 'not filled in on our page' : `The hidden field ${name} is missing or was changed.`
      expect([changed.status, changed.text.includes(words)]).toEqual([status, true])
      expect((await client.post(form)).status).toBe(302)
    },
  )

  it('rejects the form without its session cookie, with a foreign one, and after the session has expired', async () => {
    const client = new Client(emulator)
    const other = new Client(emulator)
    const { hidden } = await client.open()
    const form = { ...hidden, identity, credential: demoCredential }
    await other.open()
    expect((await other.post(form, client.query())).status).not.toBe(302)
    client.cookies.delete('sso.sid')
    expect((await client.post(form)).status).toBe(403)

    const slow = new Client(emulator)
    const start = await slow.open()
    emulator.clock.advance(901)
    expect((await slow.post({ ...start.hidden, identity, credential: demoCredential })).status).toBe(403)
  })

  it.each(['code_challenge', 'redirect_uri', 'state'])('rejects a %s that differs from step 1', async (name) => {
    const client = new Client(emulator)
    const { hidden } = await client.open()
    const other = {
      code_challenge: new Client(emulator).challenge,
      redirect_uri: `${emulator.regionalAuthUrl}/void/callback`,
      state: 'another state',
    }[name]
    const answer = await client.post(
      { ...hidden, identity, credential: demoCredential },
      client.query({ [name]: other }),
    )
    expect(answer.status).toBe(400)
  })

  it('rejects a session of the other instance', async () => {
    const home = new Client(emulator)
    const { hidden } = await home.open()
    const away = new Client(emulator, { base: emulator.regionalAuthUrl })
    for (const [name, value] of home.cookies) away.cookies.set(name, value)
    const answer = await away.post(
      { ...hidden, identity: 'regional@example.com', credential: demoCredential },
      home.query(),
    )
    expect(answer.status).toBe(403)
  })

  it.each([
    ['a wrong credential', identity, 'wrong'],
    ['an unknown identity', 'nobody@example.com', demoCredential],
    ['an account of the other region', 'regional@example.com', demoCredential],
  ])(
    'answers %s with 401 and the login page, the identity kept, the credential not',
    async (_case, who, credential) => {
      const client = new Client(emulator)
      const { answer, hidden } = await client.authorize(who, credential)
      expect(answer.status).toBe(401)
      expect(answer.text).toContain('We could not sign you in')
      expect(answer.text).toContain(who)
      expect(answer.text).not.toContain(credential === demoCredential ? demoCredential : `"${credential}"`)
      expect(hiddenInputsOf(answer.text)).toEqual(hidden)
    },
  )

  it('signs a regional account in at its region alone, with that issuer', async () => {
    const client = new Client(emulator, { base: emulator.regionalAuthUrl })
    const { answer } = await client.authorize('regional@example.com')
    expect(answer.status).toBe(302)
    expect(locationOf(answer).searchParams.get('issuer')).toBe(`${emulator.regionalAuthUrl}/oauth2/v3`)
  })

  it('redirects with login_cancelled when the person cancels', async () => {
    const client = new Client(emulator)
    const { hidden } = await client.open()
    const answer = await client.post({ transaction_id: hidden['transaction_id'], cancel: '1' })
    expect(answer.status).toBe(302)
    expect(locationOf(answer).searchParams.get('error')).toBe('login_cancelled')
    expect(locationOf(answer).searchParams.get('state')).toBe('some state')
    expect(locationOf(answer).searchParams.get('issuer')).toBe(`${emulator.authUrl}/oauth2/v3`)
    expect((await client.post({ transaction_id: 'another', cancel: '1' })).status).toBe(403)

    const path = `/oauth2/v3/authorize?${client.query().toString()}`
    const byButton = new URLSearchParams([...Object.entries(hidden), ['cancel', '1']])
    expect((await client.send(path, { method: 'POST', body: byButton })).status).toBe(302)
  })

  it('does not take the first value of a field that comes twice', async () => {
    const client = new Client(emulator)
    const { hidden } = await client.open()
    const path = `/oauth2/v3/authorize?${client.query().toString()}`
    const fields = Object.entries({ ...hidden, identity, credential: demoCredential })
    const post = async (...more: [string, string][]): Promise<number> =>
      (await client.send(path, { method: 'POST', body: new URLSearchParams([...fields, ...more]) })).status
    expect(await post(['_phase', 'other'])).toBe(400)
    expect(await post(['credential', 'other'])).toBe(401)
    expect(await post(['_phase', hidden['_phase'] ?? ''], ['credential', demoCredential])).toBe(302)
  })
})

describe('locked accounts and captchas', () => {
  const captcha = { identity: 'captcha@example.com', credential: 'x', captcha: true } as const

  it('asks for a captcha on the page of the password already, where the e-mail comes first', async () => {
    await using strict = await startEmulator({ accounts: [captcha], identityFirst: true })
    const client = new Client(strict)
    const { page, hidden } = await client.open()
    expect(page.text).not.toContain('name="captcha"')
    expect((await client.post({ ...hidden, identity: captcha.identity })).text).toContain('name="captcha"')
  })

  it('asks for a captcha after the first submission, rejects a wrong one and takes the right one', async () => {
    await using strict = await startEmulator({ accounts: [captcha] })
    const client = new Client(strict)
    const { answer, hidden } = await client.authorize(captcha.identity, 'x')
    expect(answer.status).toBe(200)
    expect(answer.text).toContain('Recaptcha is required')
    expect(answer.text).toContain('name="captcha"')

    const form = { ...hidden, identity: captcha.identity, credential: 'x' }
    const wrong = await client.post({ ...form, captcha: 'WRONG' })
    expect(wrong.text).toContain('Captcha does not match')
    const letters = [...wrong.text.matchAll(/>\s*([A-Z])\s*<\/text\s*>/gu)].map(([, letter]) => letter).join('')
    expect(letters).toHaveLength(5)
    expect((await client.post({ ...form, captcha: letters.toLowerCase() })).status).toBe(302)
    expect(strict.counters.credentialChecks).toBe(1)
  })
})

describe('the options of the form submission', () => {
  it('asks for renamed and additional hidden inputs', async () => {
    await using changed = await startEmulator({
      hiddenInputs: { rename: { _csrf: 'xsrf', transaction_id: 'txn' }, extra: { fingerprint: '<1 & 2>' } },
    })
    const client = new Client(changed)
    const { answer, hidden } = await client.authorize(identity)
    expect(answer.status).toBe(302)
    const form = { ...hidden, identity, credential: demoCredential }
    expect((await client.post({ ...form, fingerprint: undefined })).status).toBe(400)
    expect((await client.post({ ...form, xsrf: undefined })).status).toBe(403)
  })
})
