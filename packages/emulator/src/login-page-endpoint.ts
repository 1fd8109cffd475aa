/**
 * Endpoint 1, GET /oauth2/v3/authorize: the login page, or a 303 to the instance of the account's region.
 */
import { authorizeEndpointPath, authorizeCookies, loginPageReply, refusal } from './authorize-answers.ts'
import { isBareQuery, readAuthorizationRequest } from './authorization-request.ts'
import { captchaLetters } from './captcha.ts'
import { verifiedTransactionReply } from './form-submission-endpoint.ts'
import { because, redirectReply, type Reply } from './reply.ts'
import type { Service } from './service.ts'
import type { ServiceRequest } from './service-request.ts'
import { isLenient } from './strictness.ts'

export function loginPageEndpoint(service: Service, asked: ServiceRequest): Reply {
  const { instance, query } = asked
  // What legacy clients ask for after a verification: the same address again, with the transaction.
  if (isLenient(service.settings) && query.has('transaction_id')) {
    const code = verifiedTransactionReply(service, asked)
    if (code) return code
    if (isBareQuery(query)) return refusal(service, 403, 'No verified sign-in of this session has this transaction.')
  }
  const request = readAuthorizationRequest(query, service.isRedirectUri)
  if (typeof request === 'string') return refusal(service, 400, request)

  const hint = query.get('login_hint') ?? undefined
  const account = hint === undefined ? undefined : service.accounts.find(hint)
  if (account && account.region !== instance.region) {
    const location = `${service.instances[account.region].url}${authorizeEndpointPath}?${query.toString()}`
    return because(
      `the account lives in the ${account.region === 'home' ? 'home' : 'other'} region`,
      redirectReply(303, location, authorizeCookies(service)),
    )
  }

  service.counters.loginPages += 1
  const session = service.sessions.create(instance, request)
  if (account?.captcha === true) session.captcha = captchaLetters()
  return loginPageReply(service, session, { identity: hint })
}
