/** What the legacy clients of these tests have in common: one request at a time, and back goes the first cookie of the last page. */
import { createHash, randomBytes } from 'node:crypto'

export interface Page {
  readonly status: number
  /** Where it came from in the end. */
  readonly address: string
  readonly text: string
  readonly location: string
}

export interface Wire {
  get(address: string): Promise<Page>
  post(address: string, fields: Readonly<Record<string, string>>): Promise<Page>
  /** Parsed; fields as JSON where there are any. */
  json(address: string, fields?: unknown, headers?: Readonly<Record<string, string>>): Promise<Json>
}

export type Json = Readonly<Record<string, string>> & { readonly data?: readonly Json[] }

/** @param own - headers of the client's own, such as its name */
export function createWire(own: Readonly<Record<string, string>> = {}): Wire {
  let cookie = ''

  async function send(address: string, init: RequestInit = {}): Promise<Page> {
    const answer = await fetch(address, {
      redirect: 'manual',
      ...init,
      headers: { ...own, ...(cookie && { cookie }), ...Object.fromEntries(new Headers(init.headers)) },
    })
    cookie = answer.headers.getSetCookie()[0]?.split(';', 1)[0] ?? cookie
    const location = answer.headers.get('location') ?? ''
    // The other region.
    if (answer.status === 303) return send(location)
    return { status: answer.status, address, text: await answer.text(), location }
  }

  return {
    get: (address) => send(address),
    post: (address, fields) => send(address, { method: 'POST', body: new URLSearchParams(fields) }),
    async json(address, fields, headers = {}) {
      const body = fields !== undefined && { method: 'POST', body: JSON.stringify(fields) }
      const answer = await send(address, { ...body, headers: { 'content-type': 'application/json', ...headers } })
      return JSON.parse(answer.text)
    },
  }
}

/** A verifier, and its challenge as RFC 7636 has it. */
export function createPkce(): { readonly verifier: string; readonly challenge: string } {
  const verifier = randomBytes(43).toString('hex')
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') }
}

/** The query of a login, with everything that such clients send along; some name no account. */
export function loginQuery(challenge: string, redirectUri: string, identity?: string): string {
  return new URLSearchParams({
    client_id: 'ownerapi',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid email offline_access',
    state: randomBytes(8).toString('hex'),
    ...(identity !== undefined && { login_hint: identity }),
  }).toString()
}

/** The names in a list of the owner API, of what has a field that the client goes by. */
export function namesOf(list: unknown, field: string): string[] {
  const { response }: { readonly response: readonly Json[] } = Object(list)
  return response.flatMap((each) => (each[field] === undefined ? [] : [String(each['display_name'])]))
}

/** The first match of the whole text, comments and scripts included. */
export function firstMatch(text: string, pattern: RegExp): string {
  const [, value] = pattern.exec(text) ?? []
  if (value === undefined) throw new Error(`The page has no ${pattern.source}`)
  return value
}
