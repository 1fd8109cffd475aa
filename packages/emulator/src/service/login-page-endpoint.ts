/**
 * Endpoint 1, GET /oauth2/v3/authorize: the login page, or a 303 to the instance of the account's region.
 */
import { authorizeCookies, loginPageResponse, refusal } from './authorize-responses.ts'
import { authorizeEndpointPath, isBareQuery, readAuthorizationRequest } from '../state/authorization-request.ts'
import { captchaLetters, captchaPicture } from '../pages/captcha.ts'
import { verifiedTransactionResponse } from './form-submission-endpoint.ts'
import { redirectResponse, withReason, type ServiceResponse } from '../http/service-response.ts'
import type { ServiceState } from '../state/service-state.ts'
import type { ServiceRequest } from '../http/service-request.ts'
import { isLenient } from '../state/strictness.ts'
import { sessionCookie } from '../state/sessions.ts'

export function loginPageEndpoint(service: ServiceState, asked: ServiceRequest): ServiceResponse {
  const { instance, query } = asked
  // What legacy clients ask for after a verification: the same address again, with the transaction.
  if (isLenient(service.settings) && query.has('transaction_id')) {
    const code = verifiedTransactionResponse(service, asked)
    if (code) return code
    if (isBareQuery(query)) return refusal(service, 403, 'No verified sign-in of this session has this transaction.')
  }
  const request = readAuthorizationRequest(query, service)
  if (typeof request === 'string') return refusal(service, 400, request)

  const hint = query.get('login_hint') ?? undefined
  const account = hint === undefined ? undefined : service.accounts.find(hint)
  if (account && account.region !== instance.region) {
    const location = `${service.instances[account.region].url}${authorizeEndpointPath}?${query.toString()}`
    return withReason(
      `the account lives in the ${account.region === 'home' ? 'home' : 'other'} region`,
      redirectResponse(303, location, authorizeCookies(service)),
    )
  }

  service.counters.loginPages += 1
  const session = service.sessions.create(instance, request)
  if (account?.captcha === true) session.captcha = captchaLetters()
  return loginPageResponse(service, session, { identity: hint })
}

export function captchaEndpoint(service: ServiceState, { cookies, instance }: ServiceRequest): ServiceResponse {
  const session = service.sessions.find(cookies.get(sessionCookie), instance)
  if (!session) return refusal(service, 403, 'Your session is unknown or has expired. Open the login page again.')
  if (session.captcha === undefined) return refusal(service, 404, 'Your page shows no captcha.', session)
  const picture = captchaPicture(session.captcha).markup
  return withReason('the captcha of the page', {
    status: 200,
    headers: { 'content-type': 'image/svg+xml' },
    body: picture,
  })
}
