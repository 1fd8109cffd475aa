/**
 * Parameters and headers that several endpoints of the description share.
 */
import { sessionCookie } from '../service/sessions.ts'
import { acceptedEncoding, isLenient, takesLegacyCallbacks } from '../service/strictness.ts'
import type { Described, Part } from './part.ts'

/** Names of the query parameters that both authorize calls have. */
export const authorizeParameters: readonly string[] = [
  'client_id',
  'code_challenge',
  'code_challenge_method',
  'redirect_uri',
  'response_type',
  'scope',
  'state',
]

/** The registered ones; legacy clients have their own. */
export function redirectUriSchema({ redirectUris, settings }: Pick<Described, 'redirectUris' | 'settings'>): Part {
  return takesLegacyCallbacks(settings) ? { type: 'string', pattern: '/callback$' } : { enum: redirectUris }
}

export function parameters(service: Described): Readonly<Record<string, Part>> {
  const { settings } = service
  /** Legacy clients may leave out those of both authorize calls, all at once. */
  const shared = (name: string, description: string, schema: Part): Part => ({
    ...query(name, description, schema),
    required: !isLenient(settings),
  })
  const redirectUri = redirectUriSchema(service)
  return {
    client_id: shared('client_id', 'Always the same', { const: 'ownerapi' }),
    code_challenge: shared('code_challenge', challenges[acceptedEncoding(settings)], {
      pattern: '^[A-Za-z0-9_-]{43,128}={0,2}$',
    }),
    code_challenge_method: shared('code_challenge_method', 'Always the same', { const: 'S256' }),
    redirect_uri: shared('redirect_uri', 'Where the code is sent: a page that does not exist', redirectUri),
    response_type: shared('response_type', 'Always the same', { const: 'code' }),
    scope: shared('scope', 'Always the same', { const: 'openid email offline_access' }),
    state: shared('state', 'A random string, the same in all requests of one login', { minLength: 1, maxLength: 1024 }),
    login_hint: {
      ...query('login_hint', 'The e-mail address of the account: it decides the region', {}),
      required: false,
    },
    transaction_id: query('transaction_id', "The login page's hidden input of this name", { minLength: 1 }),
    session: {
      name: sessionCookie,
      in: 'cookie',
      required: true,
      description: 'The session that the login page set',
      schema: { type: 'string', minLength: 1 },
    },
  }
}

const cookieHeader: Part = { type: 'string', pattern: '^(?:sso\\.sid|ak_bmsc|bm_sz|_abck)=[^;]+; .*Path=/' }

export const headers: Part = {
  Emulator: {
    description: 'On every answer, so that nobody takes it for the service itself',
    required: true,
    schema: { const: '1' },
  },
  CacheControl: { description: 'No answer may be kept', required: true, schema: { const: 'no-store' } },
  SetCookie: {
    description: 'One line for each cookie: the session, where there is one, and those of the firewall',
    required: true,
    schema: cookieHeader,
  },
  PageCookies: {
    description: 'Set again where the answer is a page of the login',
    required: false,
    schema: cookieHeader,
  },
  CodeLocation: {
    description: 'The redirect_uri with `code`, `state` and `issuer`; with `error` where the login was cancelled',
    required: true,
    schema: { type: 'string', format: 'uri', pattern: '[?&](?:code=.+|error=login_cancelled)&.*issuer=' },
  },
  RegionLocation: {
    description: "The same request at the instance of the account's region",
    required: true,
    schema: { type: 'string', format: 'uri', pattern: '/oauth2/v3/authorize\\?' },
  },
}

function query(name: string, description: string, schema: Part): Part {
  return { name, in: 'query', required: true, description, schema: { type: 'string', ...schema } }
}

const challenges = {
  'hex-digest': "base64url of the hexadecimal text of the verifier's SHA-256",
  'raw-digest': "base64url of the verifier's SHA-256 (RFC 7636)",
  either: "base64url of the verifier's SHA-256 (RFC 7636), or of its hexadecimal text",
}
