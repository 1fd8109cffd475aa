/**
 * Endpoints 3 and 6, POST /oauth2/v3/token: code exchange and refresh, JSON as documented, form encoding for legacy clients. Of a
 * registered application: forms alone, with its secret.
 */
import { fixedScope } from '../state/authorization-request.ts'
import { passcodePageResponse } from './authorize-responses.ts'
import { verifierMatches } from '../state/codes.ts'
import { jsonResponse, withReason, type ServiceResponse } from '../http/service-response.ts'
import type { ServiceState } from '../state/service-state.ts'
import { readFormFields, readJsonFields, type Fields, type ServiceRequest } from '../http/service-request.ts'
import { awaitPasscode } from '../state/sessions.ts'
import { isClient, isLenient, isRegistered } from '../state/strictness.ts'
import { mintingOf } from '../state/access-tokens.ts'

/** The body's fields, whichever encoding it came in; undefined if it can't be read. Legacy clients send the `code` in a list. */
export function tokenFields(
  { settings }: Pick<ServiceState, 'settings'>,
  { contentType, body }: Pick<ServiceRequest, 'contentType' | 'body'>,
): Fields | undefined {
  if (contentType === 'application/json') return readJsonFields(body, isLenient(settings) ? 'code' : undefined)
  if (contentType === 'application/x-www-form-urlencoded') return readFormFields(body)
  return undefined
}

export async function tokenEndpoint(service: ServiceState, request: ServiceRequest): Promise<ServiceResponse> {
  const fields = tokenFields(service, request)
  if (!fields) return tokenError('invalid_request', 'The body must be a JSON object')
  const { settings } = service
  const type = isRegistered(settings) ? 'application/x-www-form-urlencoded' : 'application/json'
  if (request.contentType !== type && (isRegistered(settings) || !isLenient(settings))) {
    return tokenError('invalid_request', `The body must be ${type}`)
  }
  if (!isClient(settings, fields)) {
    // RFC 6749 section 5.2; the document's client has no secret, and gets the status of all other errors.
    return tokenError('invalid_client', 'Unknown client_id', isRegistered(settings) ? 401 : 400)
  }
  switch (fields.get('grant_type')) {
    case 'authorization_code':
      return exchangeCode(service, request, fields)
    case 'refresh_token':
      return refresh(service, request, fields)
    case undefined:
      return tokenError('invalid_request', 'Missing grant_type (a string)')
    default:
      return tokenError('unsupported_grant_type', 'The grant_type is not supported')
  }
}

async function exchangeCode(service: ServiceState, request: ServiceRequest, fields: Fields): Promise<ServiceResponse> {
  const isRegisteredOne = isRegistered(service.settings)
  const missing = ['code', isRegisteredOne ? 'audience' : 'code_verifier', 'redirect_uri'].find(
    (name) => !fields.get(name),
  )
  if (missing !== undefined) return tokenError('invalid_request', `Missing ${missing} (a string)`)

  const code = service.codes.take(fields.get('code') ?? '')
  // The cookie does not count: a client may have one of another session, and have sent the person to a browser.
  if (!code || code.session.instance !== request.instance) {
    return tokenError('invalid_grant', 'The code is unknown, expired or already used')
  }
  const { session, account } = code
  if (fields.get('redirect_uri') !== session.request.redirectUri) {
    return tokenError('invalid_grant', 'The redirect_uri differs from that of the authorization request')
  }
  const { codeChallenge } = session.request
  if (codeChallenge !== '' && !verifierMatches(fields.get('code_verifier') ?? '', codeChallenge, service.settings)) {
    return tokenError('invalid_request', 'Invalid code_verifier')
  }
  if (!code.complete) {
    return passcodePageResponse(service, session, awaitPasscode(service, session, account))
  }

  const audience = isRegisteredOne ? fields.get('audience') : undefined
  const { id_token, ...tokens } = await service.refreshTokens.signIn(
    account,
    session.instance,
    audience,
    mintingOf(request),
  )
  service.counters.codeExchanges += 1
  const { state } = session.request
  return withReason('tokens issued', jsonResponse(200, { ...tokens, ...(isRegisteredOne && { id_token }), state }))
}

async function refresh(service: ServiceState, request: ServiceRequest, fields: Fields): Promise<ServiceResponse> {
  service.counters.refreshRequests += 1
  const refreshToken = fields.get('refresh_token')
  if (!refreshToken) return tokenError('invalid_request', 'Missing refresh_token (a string)')
  // RFC 6749 section 6 lets the scope be left out.
  const mayLeaveOut = isLenient(service.settings) || isRegistered(service.settings)
  const scope = fields.get('scope') ?? (mayLeaveOut ? fixedScope : undefined)
  if (scope !== fixedScope && !isRegistered(service.settings))
    return tokenError('invalid_scope', `The scope must be "${fixedScope}"`)
  const { decision, tokens } = await service.refreshTokens.refresh(refreshToken, request.instance, mintingOf(request))
  return withReason(
    decision,
    tokens ? jsonResponse(200, tokens) : tokenError('login_required', 'The refresh_token is expired.'),
  )
}

function tokenError(error: string, description: string, status = 400): ServiceResponse {
  return withReason(`${error}: ${description}`, jsonResponse(status, { error, error_description: description }))
}
