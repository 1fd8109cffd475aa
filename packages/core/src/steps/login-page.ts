/**
 * Endpoint 1 of the interface document: GET /oauth2/v3/authorize, obtain the login page, at the account's own region.
 */
import { authorizePath, authorizeUrl } from './authorization-request.ts'
import type { LoginSecrets } from './authorization-request.ts'
import { CaptchaRequiredError, UnexpectedResponseError } from '../errors.ts'
import type { HttpSession, StepAnswer } from '../http/http-session.ts'
import { findLoginForm } from '../pages/login-form.ts'
import type { HiddenInputs } from '../pages/login-form.ts'
import { allowedInstance } from '../region.ts'
import type { SsoSettings } from '../sso-settings.ts'

const step = 'login-page'

/** A login page that was obtained: where it came from and what it wants back. */
export interface LoginPage {
  /** Origin of the instance that served it: the home instance, or the region that the 303 named. All later steps go there. */
  readonly authUrl: string
  readonly hiddenInputs: HiddenInputs
}

/**
 * Obtains the login page, and follows the one 303 to the region of the account.
 *
 * `login_hint` is sent again at the region: the second request is the same step 1, and a region that knows the account
 * answers it with its page. A second redirect is refused.
 *
 * @throws RegionNotAllowedError, CaptchaRequiredError, UnexpectedResponseError, and what `HttpSession.send` throws
 */
export async function getLoginPage(
  settings: SsoSettings,
  session: HttpSession,
  secrets: LoginSecrets,
  identity: string,
): Promise<LoginPage> {
  const ask = (authUrl: string): Promise<StepAnswer> =>
    session.send({ step, url: authorizeUrl(settings, authUrl, secrets, identity) })
  const first = await ask(settings.authUrl)
  if (first.status !== 303) return loginPage(first, settings.authUrl)
  const region = regionOf(first, settings)
  return loginPage(await ask(region), region)
}

/** The instance that a 303 names. Only its origin is taken from it: the query of the next request is rebuilt. */
function regionOf(answer: StepAnswer, settings: SsoSettings): string {
  const location = answer.header('location')
  const region = allowedInstance(location, settings, step)
  if (region === settings.authUrl || new URL(location ?? '').pathname !== authorizePath) {
    throw new UnexpectedResponseError('its redirect leads to no regional login page', { step, status: answer.status })
  }
  return region
}

function loginPage({ status, page }: StepAnswer, authUrl: string): LoginPage {
  const form = status === 200 ? page && findLoginForm(page) : undefined
  if (!form) throw new UnexpectedResponseError(`status ${status} without a login form`, { step, status })
  if (form.captcha) throw new CaptchaRequiredError({ step, status })
  return { authUrl, hiddenInputs: form.hiddenInputs }
}
