/**
 * A login in a browser, for accounts that the service shows a captcha: the address to send the person to, and how the one
 * they end on is recognised. `callback-redemption.ts` redeems it.
 */
import { checkOptionNames } from '@owner-sso/token-manager'
import { redacted, secretiveKind, whatCame } from '@owner-sso/token-manager/support'
import { authorizeUrl, type LoginSecrets, newLoginSecrets } from '../steps/authorization-request.ts'
import { leadsTo } from '../steps/callback.ts'
import type { AuthorizationRequest } from './sso.ts'
import type { SsoSettings } from '../service/options.ts'

/** What an {@link AuthorizationRequest} really holds. */
export interface AuthorizationRequestData extends AuthorizationRequest, LoginSecrets {}

const kind = secretiveKind('AuthorizationRequest', ['kind', 'redirectUri'])

/** `Sso.createAuthorizationUrl`. Makes no request: nothing but a browser opens the address. */
export function createAuthorizationUrl(
  settings: SsoSettings,
  hint: { readonly loginHint?: string | undefined },
): { url: string; request: AuthorizationRequest } {
  checkOptionNames('createAuthorizationUrl', hint, { loginHint: true })
  const { loginHint } = hint
  if (loginHint !== undefined && typeof loginHint !== 'string') throw new TypeError('loginHint must be a string')
  const secrets = newLoginSecrets()
  const request: AuthorizationRequestData = {
    kind: 'owner-sso/authorization-request',
    redirectUri: settings.redirectUri,
    ...secrets,
  }
  return {
    url: authorizeUrl(settings, settings.authUrl, secrets, loginHint).href,
    request: redacted(request, kind),
  }
}

/**
 * Whether a web view is about to leave for the address that this login ends on: stop it there, and hand the address to
 * `redeemCallback`. Only the place is compared, not the query: `redeemCallback` checks that, for a
 * cancelled login too.
 *
 * @param url - any address that the web view goes to; text that is not an address is none of this login's
 * @throws TypeError for something that is not a request of `createAuthorizationUrl`
 */
export function isCallback(url: string | URL, request: AuthorizationRequest): boolean {
  requireAuthorizationRequest(request)
  const address = String(url)
  return URL.canParse(address) && leadsTo(new URL(address), request.redirectUri)
}

/** @throws TypeError that says what came */
export function requireAuthorizationRequest(request: unknown): asserts request is AuthorizationRequestData {
  if (isAuthorizationRequest(request)) return
  const isAll = typeof request === 'object' && request !== null && 'url' in request && 'request' in request
  const came = isAll ? '; all of that came: write its request' : whatCame(request)
  throw new TypeError(`request must be the request of what createAuthorizationUrl returned${came}`)
}

/** Whether this is what `createAuthorizationUrl` returned, or that after it went through JSON. */
function isAuthorizationRequest(request: unknown): request is AuthorizationRequestData {
  if (typeof request !== 'object' || request === null) return false
  const {
    kind: named,
    redirectUri,
    state,
    codeVerifier,
  }: Partial<Record<keyof AuthorizationRequestData, unknown>> = request
  const texts = [redirectUri, state, codeVerifier]
  return named === 'owner-sso/authorization-request' && texts.every((text) => typeof text === 'string')
}
