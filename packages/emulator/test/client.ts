/** A client for these tests, written straight from the interface document: every step by hand, nothing decided for the test. */
import { createHash, randomBytes } from 'node:crypto'
import type { Emulator, EmulatorAccount } from '../src/index.ts'

export const demoCredential = 'correct horse'
export const documentScope = 'openid email offline_access'

export interface ClientResponse {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Hidden inputs of the login page, by name. */
export type Hidden = Readonly<Record<string, string>>

export interface LoginStart {
  readonly page: ClientResponse
  readonly hidden: Hidden
}

/** A login that waits for its passcode. */
export interface PasscodeStep {
  readonly page: ClientResponse
  readonly hidden: Hidden
  readonly transaction_id: string
  readonly csrf: string
}

export interface ClientOptions {
  /** Address of the instance; default the home one. */
  readonly base?: string
  readonly encoding?: 'hex-digest' | 'raw-digest'
  /** Default a random one, as the document has it. */
  readonly verifier?: string
  readonly userAgent?: string
}

export class Client {
  readonly base: string
  readonly cookies: Map<string, string> = new Map()
  readonly verifier: string
  readonly redirectUri: string
  readonly challenge: string
  readonly headers: Readonly<Record<string, string>>

  constructor(emulator: Pick<Emulator, 'authUrl'>, options: ClientOptions = {}) {
    const { base = emulator.authUrl, encoding = 'hex-digest', verifier = randomVerifier(), userAgent } = options
    this.base = base
    this.verifier = verifier
    this.redirectUri = `${emulator.authUrl}/void/callback`
    this.challenge = challengeOf(this.verifier, encoding)
    this.headers = userAgent === undefined ? {} : { 'user-agent': userAgent }
  }

  query(changes: Readonly<Record<string, string | undefined>> = {}): URLSearchParams {
    return parameters({
      client_id: 'ownerapi',
      code_challenge: this.challenge,
      code_challenge_method: 'S256',
      redirect_uri: this.redirectUri,
      response_type: 'code',
      scope: documentScope,
      state: 'some state',
      ...changes,
    })
  }

  async send(path: string, init: RequestInit = {}): Promise<ClientResponse> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(`${this.base}${path}`, {
      redirect: 'manual',
      ...init,
      headers: { ...this.headers, ...(cookie && { cookie }), ...Object.fromEntries(new Headers(init.headers)) },
    })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]*)=([^;]*)/u.exec(line) ?? []
      this.cookies.set(name, value)
    }
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }

  /** Endpoint 1. */
  async open(changes: Readonly<Record<string, string | undefined>> = {}): Promise<LoginStart> {
    const page = await this.send(`/oauth2/v3/authorize?${this.query(changes).toString()}`)
    return { page, hidden: hiddenInputsOf(page.text) }
  }

  /** Endpoint 2. */
  post(
    fields: Readonly<Record<string, string | undefined>>,
    query: URLSearchParams = this.query(),
  ): Promise<ClientResponse> {
    return this.send(`/oauth2/v3/authorize?${query.toString()}`, { method: 'POST', body: parameters(fields) })
  }

  json(path: string, body: unknown, method = 'POST'): Promise<ClientResponse> {
    return this.send(path, { method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' } })
  }

  /** Endpoint 3. */
  exchange(code: string, changes: Readonly<Record<string, unknown>> = {}): Promise<ClientResponse> {
    return this.json('/oauth2/v3/token', {
      grant_type: 'authorization_code',
      client_id: 'ownerapi',
      code,
      code_verifier: this.verifier,
      redirect_uri: this.redirectUri,
      ...changes,
    })
  }

  /** Endpoint 6. */
  refresh(refreshToken: string | undefined, changes: Readonly<Record<string, unknown>> = {}): Promise<ClientResponse> {
    return this.json('/oauth2/v3/token', {
      grant_type: 'refresh_token',
      client_id: 'ownerapi',
      refresh_token: refreshToken,
      scope: documentScope,
      ...changes,
    })
  }

  /** Endpoints 1 and 2. */
  async authorize(
    identity: string,
    credential: string = demoCredential,
  ): Promise<{ answer: ClientResponse; hidden: Hidden }> {
    const { hidden } = await this.open()
    return { answer: await this.post({ ...hidden, identity, credential }), hidden }
  }

  /** Endpoints 1 to 3, up to the passcode page, wherever the service shows it. */
  async reachPasscode(identity: string = 'mfa@example.com'): Promise<PasscodeStep> {
    const { answer, hidden } = await this.authorize(identity)
    const page = answer.status === 302 ? await this.exchange(codeOf(answer)) : answer
    const csrf = hiddenInputsOf(page.text)['_csrf'] ?? ''
    return { page, hidden, transaction_id: hidden['transaction_id'] ?? '', csrf }
  }

  /** Endpoint 4. */
  factors(transactionId: string): Promise<ClientResponse> {
    return this.send(`/oauth2/v3/authorize/mfa/factors?transaction_id=${transactionId}`)
  }

  /** Endpoint 5: the passcode of the account's first factor. */
  verify(
    { transaction_id, csrf }: Pick<PasscodeStep, 'transaction_id' | 'csrf'>,
    account: EmulatorAccount,
    changes: Readonly<Record<string, unknown>> = {},
  ): Promise<ClientResponse> {
    const [factor] = account.factors
    const fields = { transaction_id, factor_id: factor?.id, passcode: account.passcode(), _csrf: csrf }
    return this.json('/oauth2/v3/authorize/mfa/verify', { ...fields, ...changes })
  }

  /** Endpoints 1 to 3, for an account without a second factor. */
  async login(identity: string): Promise<Record<string, string>> {
    const { answer } = await this.authorize(identity)
    return json(await this.exchange(codeOf(answer)))
  }
}

export function json(answer: ClientResponse): Record<string, string> {
  return JSON.parse(answer.text)
}

export function codeOf(answer: ClientResponse): string {
  return locationOf(answer).searchParams.get('code') ?? ''
}

export function locationOf(answer: ClientResponse): URL {
  return new URL(answer.headers.get('location') ?? 'none:')
}

/** Inputs inside the form, comments and scripts left out. */
export function hiddenInputsOf(page: string): Record<string, string> {
  const form = page.slice(page.indexOf('<form')).replaceAll(/<script>[\s\S]*?<\/script>/gu, '')
  const inputs = [...form.matchAll(/<input\s+type="hidden"\s+name="([^"]*)"\s+value="([^"]*)"\s*\/?>/gu)]
  return Object.fromEntries(inputs.map(([, name = '', value = '']) => [decode(name), decode(value)]))
}

export function randomVerifier(): string {
  return Array.from(randomBytes(86), (byte) => (byte % 36).toString(36)).join('')
}

export function challengeOf(verifier: string, encoding: 'hex-digest' | 'raw-digest'): string {
  const digest = createHash('sha256').update(verifier).digest()
  return (encoding === 'raw-digest' ? digest : Buffer.from(digest.toString('hex'))).toString('base64url')
}

function parameters(fields: Readonly<Record<string, string | undefined>>): URLSearchParams {
  const present = Object.entries(fields).filter((field): field is [string, string] => field[1] !== undefined)
  return new URLSearchParams(present)
}

function decode(text: string): string {
  const named: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }
  return text.replaceAll(/&(?:#x([0-9a-f]+)|(\w+));/gu, (_match, hex?: string, name?: string) =>
    hex === undefined ? (named[name ?? ''] ?? '') : String.fromCodePoint(Number.parseInt(hex, 16)),
  )
}
