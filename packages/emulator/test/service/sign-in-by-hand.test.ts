import { describe, expect, it } from '@jest/globals'
import type { ChangeableOptions } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import { Client, json } from '../client.ts'

const emulator = useEmulator()
const secure = useEmulator({ tls: true })
const plain = 'plain@example.com'

function authorizeUrl(client: Client, changes: Readonly<Record<string, string>> = {}): string {
  return `${emulator.authUrl}/oauth2/v3/authorize?${client.query(changes).toString()}`
}

async function tokensOf(client: Client, address: string): Promise<Record<string, string>> {
  return json(await client.exchange(new URL(address).searchParams.get('code') ?? ''))
}

describe('signInByHand', () => {
  it('ends at the redirect, with the state and a code that is good for tokens', async () => {
    const client = new Client(emulator)
    const address = await emulator.signInByHand(authorizeUrl(client))
    expect(address).toMatch(`${client.redirectUri}?code=`)
    expect(new URL(address).searchParams.get('state')).toBe('some state')
    expect(emulator.requests.map(({ method, status }) => `${method} ${status}`)).toEqual(['GET 200', 'POST 302'])
    expect(emulator.requests[0]?.headers['user-agent']).toBeUndefined()
    expect(await tokensOf(client, address)).toHaveProperty('access_token')
  })

  it('takes the account of the login_hint, goes to its region once, and speaks TLS', async () => {
    const client = new Client(emulator)
    const regional = await emulator.signInByHand(authorizeUrl(client, { login_hint: 'regional@example.com' }))
    expect(new URL(regional).searchParams.get('issuer')).toContain(emulator.regionalAuthUrl)
    expect(emulator.counters.loginPages).toBe(1)
    const query = new Client(secure).query().toString()
    expect(await secure.signInByHand(`${secure.authUrl}/oauth2/v3/authorize?${query}`)).toContain('?code=')
  })

  it.each<[string, ChangeableOptions]>([
    ['that asks for the e-mail first', { identityFirst: true }],
    ['with hidden inputs in a template, renamed', { hiddenInputs: { inTemplate: true, rename: { _csrf: 'check' } } }],
    ['as recorded', { strictness: 'lenient' }],
    ['that asks for the e-mail first, as recorded', { strictness: 'lenient', identityFirst: true }],
  ])('reads a page %s', async (_name, options) => {
    emulator.change(options)
    expect(await emulator.signInByHand(authorizeUrl(new Client(emulator)))).toContain('?code=')
  })

  it.each<[string, ChangeableOptions]>([
    ['', {}],
    [' whose _csrf is in a script', { passcodePage: { csrf: 'script' } }],
    [' without a _csrf', { passcodePage: { csrf: 'none' } }],
    [' as recorded', { strictness: 'lenient' }],
  ])('types the passcode of the moment at a passcode page%s', async (_name, options) => {
    emulator.change({ ...options, mfaAt: 'form-submission' })
    const client = new Client(emulator)
    const address = await emulator.signInByHand(authorizeUrl(client), { identity: 'mfa@example.com' })
    expect(new URL(address).searchParams.get('code')).not.toBe('')
    expect(emulator.counters.passcodeChecks).toBe(1)
  })

  it.each<[string, () => Promise<string>, string]>([
    [
      'a wrong credential',
      () => signIn({ credential: 'wrong' }),
      'ended on a page, with status 401: We could not sign you in',
    ],
    [
      'a wrong passcode',
      () => signIn({ identity: 'mfa@example.com', passcode: '000000' }),
      'ended at its passcode, with status 200',
    ],
    ['a locked account', () => locked(), 'ended on a page, with status 200: Your account has been locked'],
    ['a captcha', () => withCaptcha(), 'ended on a page, with status 200: Recaptcha is required'],
    [
      'a refused address',
      () => emulator.signInByHand(`${emulator.authUrl}/oauth2/v3/authorize`),
      'ended on a page, with status 400: We could not continue',
    ],
    ['a page with a title alone', () => meeting('<title>Back soon</title>'), 'with status 200: Back soon'],
    ['a page with a heading', () => meeting('<title>Back soon</title><h1>Closed</h1>'), 'with status 200: Closed'],
    ['a page without a word', () => meeting('<p>'), 'with status 200: no page'],
  ])('says where it ended: %s', async (_name, attempt, message) => {
    emulator.change({ mfaAt: 'form-submission' })
    const error = await attempt().catch((reason: unknown) => reason)
    expect(String(error)).toBe(`Error: The sign-in by hand ${message.replace(/^with/u, 'ended on a page, with')}`)
    expect(String(error)).not.toMatch(/correct horse|wrong"|000000/u)
    expect(emulator.counters.credentialChecks).toBeLessThan(2)
  })

  it('sends its credential to no other host, and knows the accounts of this emulator alone', async () => {
    const elsewhere = emulator.signInByHand('https://auth.example.com/oauth2/v3/authorize')
    await expect(elsewhere).rejects.toThrow('takes an address of the emulator')
    await expect(elsewhere).rejects.toThrow(TypeError)
    await expect(signIn({ identity: 'nobody@example.com' })).rejects.toThrow('no account nobody@example.com')
  })
})

function signIn(options: Parameters<typeof emulator.signInByHand>[1]): Promise<string> {
  return emulator.signInByHand(authorizeUrl(new Client(emulator)), options)
}

/** The page that answers the form. */
function meeting(body: string): Promise<string> {
  emulator.once('form-submission', { body, headers: { 'content-type': 'text/html' } })
  return signIn({})
}

function locked(): Promise<string> {
  emulator.account(plain).change({ locked: true })
  return signIn({})
}

function withCaptcha(): Promise<string> {
  emulator.account(plain).change({ captcha: 'after-submission' })
  return signIn({})
}
