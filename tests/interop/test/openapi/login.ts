/** The document's flow step by step, for what a client of good manners never sends. */
import { createHash, randomInt } from 'node:crypto'
import type { Emulator } from '@owner-sso/emulator'
import { CREDENTIAL, createPerson, hiddenInputs, type LoginPage, type Person } from '../person.ts'

export const SCOPE = 'openid email offline_access'
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

export interface Login {
  readonly identity: string
  readonly person: Person
  readonly page: LoginPage
  readonly verifier: string
  readonly redirectUri: string
  readonly authUrl: string
}

/** Up to the login page. */
export async function openLogin({ authUrl }: Emulator, identity: string): Promise<Login> {
  const verifier = Array.from({ length: 86 }, () => LETTERS[randomInt(LETTERS.length)]).join('')
  const digest = createHash('sha256').update(verifier).digest('hex')
  const redirectUri = `${authUrl}/void/callback`
  const url = new URL(`${authUrl}/oauth2/v3/authorize`)
  url.search = new URLSearchParams({
    client_id: 'ownerapi',
    code_challenge: Buffer.from(digest).toString('base64url'),
    code_challenge_method: 'S256',
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: SCOPE,
    state: 'a state',
  }).toString()
  const person = createPerson()
  return { identity, person, page: await person.open(url, identity), verifier, redirectUri, authUrl }
}

export function json(body: unknown): RequestInit {
  return { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
}

export function form(fields: Readonly<Record<string, string>>): RequestInit {
  return { method: 'POST', body: new URLSearchParams(fields) }
}

export function exchangeFields(login: Login, callback: URL): Record<string, string> {
  return {
    grant_type: 'authorization_code',
    client_id: 'ownerapi',
    code: callback.searchParams.get('code') ?? '',
    code_verifier: login.verifier,
    redirect_uri: login.redirectUri,
  }
}

export interface PasscodeStep {
  readonly login: Login
  readonly transactionId: string
  /** The passcode page's own. */
  readonly csrf: string
  /** Posts the fields of a verification; those given replace or, undefined, leave out. */
  verify(changes?: Readonly<Record<string, unknown>>): Promise<Response>
}

/** Up to the passcode page, at the exchange. The passcode is that of the moment, and works once. */
export async function reachPasscode(emulator: Emulator, identity: string): Promise<PasscodeStep> {
  const login = await openLogin(emulator, identity)
  const { person, page, authUrl } = login
  const callback = await person.submit(page, identity)
  const answer = await person.send(`${authUrl}/oauth2/v3/token`, json(exchangeFields(login, callback)))
  const csrf = hiddenInputs(await answer.text())['_csrf'] ?? ''
  const transactionId = page.hidden['transaction_id'] ?? ''
  const account = emulator.accounts.find((candidate) => candidate.identity === identity)
  const fields = { transaction_id: transactionId, factor_id: account?.factors[0]?.id, passcode: account?.passcode() }
  return {
    login,
    transactionId,
    csrf,
    verify: (changes = {}) =>
      person.send(`${authUrl}/oauth2/v3/authorize/mfa/verify`, json({ ...fields, _csrf: csrf, ...changes })),
  }
}

export function wholeForm({ page, identity }: Login): Record<string, string> {
  return { ...page.hidden, identity, credential: CREDENTIAL }
}
