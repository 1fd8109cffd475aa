/**
 * A login in the person's own browser, for accounts that the service shows a captcha: the address to send them to.
 * Redeeming the address they end on is in `callback-redemption.ts`.
 */
import { authorizeUrl, type LoginSecrets, newLoginSecrets } from '../steps/authorization-request.ts'
import { redacted, secretiveKind } from '../support/redaction.ts'
import type { AuthorizationRequest } from './sso.ts'
import type { SsoSettings } from './options.ts'

/** What an {@link AuthorizationRequest} really holds. */
export interface AuthorizationRequestData extends AuthorizationRequest, LoginSecrets {}

const kind = secretiveKind('AuthorizationRequest', ['kind'])

/** `Sso.createAuthorizationUrl`. Makes no request: nothing but a browser opens the address. */
export function createAuthorizationUrl(
  settings: SsoSettings,
  { loginHint }: { readonly loginHint?: string | undefined },
): { url: string; request: AuthorizationRequest } {
  if (loginHint !== undefined && typeof loginHint !== 'string') throw new TypeError('loginHint must be a string')
  const secrets = newLoginSecrets()
  const request: AuthorizationRequestData = { kind: 'owner-sso/authorization-request', ...secrets }
  return {
    url: authorizeUrl(settings, settings.authUrl, secrets, loginHint).href,
    request: redacted(request, kind),
  }
}
