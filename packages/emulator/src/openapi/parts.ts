/**
 * What the paths of the description are made of: schemas, parameters, headers and answers.
 */
import { clientId, fixedParameters } from '../service/authorization-request.ts'
import type { ServiceState } from '../service/service-state.ts'
import { sessionCookie } from '../service/sessions.ts'
import { acceptedEncoding, isLenient, takesLegacyCallbacks } from '../service/strictness.ts'

/** JSON. */
export type Part = Readonly<Record<string, unknown>>

/** The description follows the settings of the moment it is asked for. */
export type Described = Pick<ServiceState, 'instances' | 'redirectUris' | 'settings'>

export const text: Part = { type: 'string', minLength: 1 }
export const client: Part = { const: clientId }
export const scope: Part = { const: fixedParameters.scope }

/** `#/components/…` by kind and name. */
export function ref(kind: 'headers' | 'parameters' | 'schemas', name: string): Part {
  return { $ref: `#/components/${kind}/${name}` }
}

/** An object with these fields, which are required but for those of `optional`; others may come along. */
export function fields(properties: Part, optional: readonly string[] = []): Part {
  return { type: 'object', properties, required: Object.keys(properties).filter((name) => !optional.includes(name)) }
}

/** An object with exactly these fields. */
export function exact(properties: Part): Part {
  return { ...fields(properties), additionalProperties: false }
}

/** The registered ones; legacy clients have their own. */
export function redirectUriSchema({ redirectUris, settings }: Pick<Described, 'redirectUris' | 'settings'>): Part {
  return takesLegacyCallbacks(settings) ? { type: 'string', pattern: '/callback$' } : { enum: redirectUris }
}

const challenges = {
  'hex-digest': "base64url of the hexadecimal text of the verifier's SHA-256",
  'raw-digest': "base64url of the verifier's SHA-256 (RFC 7636)",
  either: "base64url of the verifier's SHA-256 (RFC 7636), or of its hexadecimal text",
}

/** Those of both authorize calls. */
function authorizeParameters(service: Described): Part {
  const { settings } = service
  const shared: Readonly<Record<string, readonly [description: string, schema: Part]>> = {
    client_id: ['Always the same', client],
    code_challenge: [challenges[acceptedEncoding(settings)], { pattern: '^[A-Za-z0-9_-]{43,128}={0,2}$' }],
    code_challenge_method: ['Always the same', { const: fixedParameters.code_challenge_method }],
    redirect_uri: ['Where the code is sent: a page that does not exist', redirectUriSchema(service)],
    response_type: ['Always the same', { const: fixedParameters.response_type }],
    scope: ['Always the same', scope],
    state: ['A random string, the same in all requests of one login', { minLength: 1, maxLength: 1024 }],
  }
  // Legacy clients may leave them out, all at once.
  const required = !isLenient(settings)
  return Object.fromEntries(
    Object.entries(shared).map(([name, [description, schema]]) => [name, query(name, description, schema, required)]),
  )
}

export const authorizeParameterRefs: readonly Part[] = [
  'client_id',
  'code_challenge',
  'code_challenge_method',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
].map((name) => ref('parameters', name))

export const transactionId: Part = query('transaction_id', "The login page's hidden input of this name", {
  minLength: 1,
})

export function parameters(service: Described): Part {
  return {
    ...authorizeParameters(service),
    login_hint: query('login_hint', 'The e-mail address of the account: it decides the region', {}, false),
    transaction_id: transactionId,
    session: {
      name: sessionCookie,
      in: 'cookie',
      required: true,
      description: 'The session that the login page set',
      schema: text,
    },
  }
}

function query(name: string, description: string, schema: Part, required = true): Part {
  return { name, in: 'query', required, description, schema: { type: 'string', ...schema } }
}

const cookieHeader: Part = { type: 'string', pattern: '^(?:sso\\.sid|ak_bmsc|bm_sz|_abck)=[^;]+; .*Path=/' }

export const headers: Part = {
  Emulator: header('On every answer, so that nobody takes it for the service itself', { const: '1' }),
  CacheControl: header('No answer may be kept', { const: 'no-store' }),
  SetCookie: header(
    'One line for each cookie: the session, where there is one, and those of the firewall',
    cookieHeader,
  ),
  PageCookies: header('Set again where the answer is a page of the login', cookieHeader, false),
  CodeLocation: header(
    'The redirect_uri with `code`, `state` and `issuer`; with `error` where the login was cancelled',
    {
      type: 'string',
      format: 'uri',
      pattern: '[?&](?:code=.+|error=login_cancelled)&.*issuer=',
    },
  ),
  RegionLocation: header("The same request at the instance of the account's region", {
    type: 'string',
    format: 'uri',
    pattern: '/oauth2/v3/authorize\\?',
  }),
}

function header(description: string, schema: Part, required = true): Part {
  return { description, required, schema }
}

const commonHeaders: Part = {
  'x-owner-sso-emulator': ref('headers', 'Emulator'),
  'cache-control': ref('headers', 'CacheControl'),
}
const cookieHeaders: Part = { ...commonHeaders, 'set-cookie': ref('headers', 'SetCookie') }

/** One of several schemas of this media type, by their names. */
export function content(mediaType: string, ...schemas: readonly string[]): Part {
  const [first = {}, ...others] = schemas.map((name) => ref('schemas', name))
  return { [mediaType]: { schema: others.length > 0 ? { anyOf: [first, ...others] } : first } }
}

/** An answer without cookies: JSON, or the firewall's page. */
export function response(description: string, ...contents: readonly Part[]): Part {
  return { description, headers: commonHeaders, content: Object.assign({}, ...contents) }
}

/** An answer that may be a page of the login, with its cookies, or another one, without. */
export function mixedResponse(description: string, ...contents: readonly Part[]): Part {
  const cookies = { ...commonHeaders, 'set-cookie': ref('headers', 'PageCookies') }
  return { ...response(description, ...contents), headers: cookies }
}

/** A page of the login, which sets its cookies again. */
export function pageResponse(description: string, ...pages: readonly string[]): Part {
  return { description, headers: cookieHeaders, content: content('text/html', ...pages) }
}

/** One that says why a request is refused, or the firewall's. */
export function refusedPage(reason: string): Part {
  return mixedResponse(
    `${reason}, or the firewall blocks this client`,
    content('text/html', 'NoticePage', 'ChallengePage'),
  )
}

export function redirectResponse(description: string, location: string): Part {
  return { description, headers: { ...cookieHeaders, location: ref('headers', location) } }
}

/** What the firewall answers in place of any endpoint. */
export const challenge: Part = response('The firewall blocks this client', content('text/html', 'ChallengePage'))

/** What becomes of a body that can't be read at all. */
export const unreadable: Part = {
  '413': response('The body is larger than 64 KiB', content('text/html', 'NoticePage')),
  '415': response('The encoding or the character set of the body is not supported', content('text/html', 'NoticePage')),
}
