/**
 * Endpoints 3 and 6 of the description: one address, two grants. Field names are the wire's.
 */
import { isLenient } from '../service/strictness.ts'
import {
  challenge,
  client,
  content,
  exact,
  fields,
  mixedResponse,
  redirectUriSchema,
  response,
  scope,
  text,
  unreadable,
  type Described,
  type Part,
} from './parts.ts'

export function tokenPaths({ settings, instances }: Described): Part {
  const grants = ['CodeExchange', 'Refresh'] as const
  const post: Part = {
    operationId: 'getTokens',
    summary: 'Exchange an authorization code, or refresh',
    tags: ['login', 'refresh'],
    requestBody: {
      required: true,
      content: {
        ...content('application/json', ...grants),
        ...(isLenient(settings) && content('application/x-www-form-urlencoded', ...grants)),
      },
    },
    responses: {
      '200': mixedResponse(
        'Tokens; or the passcode page, where the account has a second factor that was not verified',
        content('application/json', 'SignInTokens', 'RefreshedTokens'),
        content('text/html', 'PasscodePage'),
      ),
      '400': response(
        'The request is wrong, or the code or refresh token is',
        content('application/json', 'TokenError'),
      ),
      '403': challenge,
      ...unreadable,
    },
  }
  const { home, regional } = instances
  const isElsewhere = home.tokenUrl !== home.url
  const servers = isElsewhere && { servers: [home, regional].map(({ tokenUrl }) => ({ url: tokenUrl })) }
  return { '/oauth2/v3/token': { ...servers, post } }
}

export function tokenSchemas(service: Described): Part {
  const { settings } = service
  const lenient = isLenient(settings)
  const code = lenient ? { anyOf: [text, { type: 'array', items: text, minItems: 1, maxItems: 1 }] } : text
  const lifetime = settings.expiresIn !== null && {
    expires_in: { type: ['number', 'string'], description: 'A lifetime, whose unit the document does not give' },
  }
  const token_type = { const: 'Bearer' }
  return {
    CodeExchange: fields({
      grant_type: { const: 'authorization_code' },
      client_id: client,
      code: { ...code, description: 'Taken from the redirect; it works once, for five minutes' },
      code_verifier: { type: 'string', pattern: lenient ? '^[A-Za-z0-9_.~-]{43,128}$' : '^[A-Za-z0-9]{86}$' },
      redirect_uri: redirectUriSchema(service),
    }),
    Refresh: fields(
      { grant_type: { const: 'refresh_token' }, client_id: client, refresh_token: text, scope },
      lenient ? ['scope'] : [],
    ),
    SignInTokens: exact({
      access_token: text,
      refresh_token: text,
      ...lifetime,
      state: { ...text, description: 'That of the login page' },
      token_type,
    }),
    RefreshedTokens: exact({
      access_token: text,
      ...(settings.rotation !== 'omit' && { refresh_token: text }),
      id_token: { ...text, description: 'A signed JWT that names the account' },
      ...lifetime,
      token_type,
    }),
    TokenError: exact({
      error: {
        enum: errors,
        description: '`invalid_grant`: the code; `login_required`: the refresh token is dead, and a sign-in is due',
      },
      error_description: text,
    }),
  }
}

const errors = [
  'invalid_request',
  'invalid_client',
  'unsupported_grant_type',
  'invalid_grant',
  'invalid_scope',
  'login_required',
]
