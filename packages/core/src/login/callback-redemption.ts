/**
 * `Sso.redeemCallback`: the address that a person's browser ended on, exchanged for tokens.
 */
import type { CallOptions, TokenSet } from '@owner-sso/token-manager'
import { whatCame } from '@owner-sso/token-manager/support'
import { requireAuthorizationRequest } from './browser-login.ts'
import { readCallback } from '../steps/callback.ts'
import { pastedAddress } from '../steps/pasted-address.ts'
import { exchangeCode } from '../steps/code-exchange.ts'
import { IssuerMismatchError, PasscodeRequiredError, PendingLoginExpiredError } from '../errors.ts'
import { openSession } from '../http/http-session.ts'
import { instanceAt } from '../service/region.ts'
import type { SsoContext } from './sso-context.ts'
import type { AuthorizationRequest } from './sso.ts'

/**
 * One request, at the instance that `issuer` names; it must be the home instance or an allowed region, since code and
 * verifier are handed to it.
 *
 * @throws TypeError for something that is not an authorization request; StateMismatchError, IssuerMismatchError, PendingLoginExpiredError (already
 *   redeemed), UnexpectedResponseError without a request; PasscodeRequiredError where the service asks for a passcode here;
 *   and what `exchangeCode` throws
 */
export async function redeemCallback(
  service: SsoContext,
  callbackUrl: string,
  request: AuthorizationRequest,
  options: CallOptions,
): Promise<TokenSet> {
  if (typeof callbackUrl !== 'string') {
    const instead = (callbackUrl as unknown) instanceof URL ? '; a URL came: write url.href' : whatCame(callbackUrl)
    throw new TypeError(`callbackUrl must be the address that the browser ended on, as text${instead}`)
  }
  requireAuthorizationRequest(request)
  const { redirectUri } = service
  const where = { step: 'callback', requestSent: false } as const
  const { code, issuer } = readCallback(
    pastedAddress(callbackUrl, redirectUri),
    { redirectUri, state: request.state },
    where,
  )
  const authUrl = await instanceAt(issuer, service)
  if (authUrl === undefined) throw new IssuerMismatchError(where)
  if (service.completedLogins.has(request.state)) throw new PendingLoginExpiredError(where)
  service.completedLogins.remember(request.state)

  const session = openSession(service, options)
  try {
    const exchange = await exchangeCode(service, session, request, authUrl, code)
    if (exchange.kind === 'passcode-page') throw new PasscodeRequiredError('in-browser', { step: 'code-exchange' })
    return exchange.tokens
  } finally {
    session.close()
  }
}
