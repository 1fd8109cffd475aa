/**
 * Endpoint 2 of the interface document: POST /oauth2/v3/authorize, obtain an authorization code.
 */
import { authorizeUrl } from './authorization-request.ts'
import type { LoginSecrets } from './authorization-request.ts'
import { readCallback } from './callback.ts'
import { IssuerMismatchError, UnexpectedResponseError } from '../errors.ts'
import type { SsoErrorOptions } from '../errors.ts'
import type { HttpSession } from '../http/http-session.ts'
import type { LoginPage } from './login-page.ts'
import { loginRefusal } from '../pages/login-refusal.ts'
import { readPasscodePage } from '../pages/passcode-page.ts'
import type { PasscodePage } from '../pages/passcode-page.ts'
import { instanceAt } from '../region.ts'
import type { SsoSettings } from '../sso-settings.ts'
import type { Credentials } from '../sso.ts'

const step = 'form-submission'

/** An authorization code, for one exchange at the instance that issued it. */
export interface AuthorizationCode {
  readonly kind: 'code'
  readonly code: string
}

/**
 * Submits the login form: every hidden input as found, the identity and the credential. The redirect that answers it is
 * read, never followed.
 *
 * @throws InvalidCredentialsError, AccountLockedError, CaptchaRequiredError, StateMismatchError, IssuerMismatchError,
 *   UnexpectedResponseError, and what `HttpSession.send` throws
 */
export async function submitLoginForm(
  settings: SsoSettings,
  session: HttpSession,
  secrets: LoginSecrets,
  page: LoginPage,
  { identity, credential }: Credentials,
): Promise<AuthorizationCode | PasscodePage> {
  const answer = await session.send({
    step,
    url: authorizeUrl(settings, page.authUrl, secrets),
    form: [...page.hiddenInputs, ['identity', identity], ['credential', credential]],
  })
  const where: SsoErrorOptions = { step, status: answer.status }
  if (answer.status === 302) {
    const { redirectUri } = settings
    const { code, issuer } = readCallback(answer.header('location'), { redirectUri, state: secrets.state }, where)
    // `issuer` is the address with or without a base path: the instance is what counts.
    if (instanceAt(issuer, settings) !== page.authUrl) throw new IssuerMismatchError(where)
    return { kind: 'code', code }
  }
  if (answer.status === 200 || answer.status === 401) {
    const passcodePage = readPasscodePage(answer, step)
    if (passcodePage) return passcodePage
    throw loginRefusal(answer.status, answer.page, where)
  }
  throw new UnexpectedResponseError(`status ${answer.status} in place of the redirect to redirect_uri`, where)
}
