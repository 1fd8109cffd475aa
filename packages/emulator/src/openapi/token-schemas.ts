/**
 * What the token endpoint takes and gives. Field names are the wire's.
 */
import { redirectUriSchema } from './components.ts'
import { isLenient } from '../service/strictness.ts'
import type { Described, Part } from './part.ts'

const scope: Part = { const: 'openid email offline_access' }
const text: Part = { type: 'string', minLength: 1 }

export function tokenSchemas({ redirectUris, settings }: Described): Part {
  const hasLifetime = settings.expiresIn !== null
  const lifetime = { type: ['number', 'string'], description: 'A lifetime, whose unit the document does not give' }
  const rotates = settings.rotation !== 'omit'
  return {
    CodeExchange: {
      type: 'object',
      properties: {
        grant_type: { const: 'authorization_code' },
        client_id: { const: 'ownerapi' },
        code: {
          ...(isLenient(settings) ? { anyOf: [text, { type: 'array', items: text, minItems: 1, maxItems: 1 }] } : text),
          description: 'Taken from the redirect; it works once, for five minutes',
        },
        code_verifier: {
          type: 'string',
          pattern: isLenient(settings) ? '^[A-Za-z0-9_.~-]{43,128}$' : '^[A-Za-z0-9]{86}$',
        },
        redirect_uri: redirectUriSchema({ redirectUris, settings }),
      },
      required: ['grant_type', 'client_id', 'code', 'code_verifier', 'redirect_uri'],
    },
    Refresh: {
      type: 'object',
      properties: {
        grant_type: { const: 'refresh_token' },
        client_id: { const: 'ownerapi' },
        refresh_token: text,
        scope: scope,
      },
      required: ['grant_type', 'client_id', 'refresh_token', ...(isLenient(settings) ? [] : ['scope'])],
    },
    SignInTokens: {
      type: 'object',
      properties: {
        access_token: text,
        refresh_token: text,
        ...(hasLifetime && { expires_in: lifetime }),
        state: { ...text, description: 'That of the login page' },
        token_type: { const: 'Bearer' },
      },
      required: ['access_token', 'refresh_token', ...(hasLifetime ? ['expires_in'] : []), 'state', 'token_type'],
      additionalProperties: false,
    },
    RefreshedTokens: {
      type: 'object',
      properties: {
        access_token: text,
        ...(rotates && { refresh_token: text }),
        id_token: { ...text, description: 'A signed JWT that names the account' },
        ...(hasLifetime && { expires_in: lifetime }),
        token_type: { const: 'Bearer' },
      },
      required: [
        'access_token',
        ...(rotates ? ['refresh_token'] : []),
        'id_token',
        ...(hasLifetime ? ['expires_in'] : []),
        'token_type',
      ],
      additionalProperties: false,
    },
    TokenError: {
      type: 'object',
      properties: {
        error: {
          enum: [
            'invalid_request',
            'invalid_client',
            'unsupported_grant_type',
            'invalid_grant',
            'invalid_scope',
            'login_required',
          ],
          description: '`invalid_grant`: the code; `login_required`: the refresh token is dead, and a sign-in is due',
        },
        error_description: text,
      },
      required: ['error', 'error_description'],
      additionalProperties: false,
    },
  }
}
