/**
 * Endpoint 1 of the interface document: GET /oauth2/v3/authorize, obtain the login page, at the account's own region.
 */
import { UnexpectedResponseError } from '@owner-sso/token-manager'
import { authorizePath, authorizeUrl, type LoginSecrets } from './authorization-request.ts'
import { leadingTo } from './callback.ts'
import { CaptchaRequiredError } from '../errors.ts'
import type { HttpSession, StepAnswer } from '../http/http-session.ts'
import type { HtmlPage } from '../pages/html-page.ts'
import { findLoginForm, type HiddenInputs, showsCaptchaWidget } from '../pages/login-form.ts'
import { type Reason, reasonsOn, submissionError } from '../pages/submission-error.ts'
import { sightingOf } from '../pages/page-sighting.ts'
import { allowedInstance } from '../service/region.ts'
import type { SsoSettings } from '../service/options.ts'

const step = 'login-page'

/** A login page that was obtained: where it came from and what it wants back. */
export interface LoginPage {
  /** Origin of the instance that served it: the home instance, or the region that the 303 named. All later steps go there. */
  readonly authUrl: string
  readonly hiddenInputs: HiddenInputs
}

/** The same as it was served. */
export interface ServedLoginPage extends LoginPage {
  /** Reasons that the page has the words of before anything is submitted. */
  readonly knownReasons: readonly Reason[]
}

interface FoundLoginPage extends ServedLoginPage {
  readonly asksFor: 'credential' | 'identity'
}

/**
 * Obtains the page that asks for the credential, and follows the one 303 to the region of the account.
 *
 * `login_hint` is sent again at the region: the second request is the same step 1, and a region that knows the account
 * answers it with its page. A second redirect ends the login. Where the page asks for the identity alone, that is submitted first:
 * the response is the page that asks for the credential.
 *
 * @throws RegionNotAllowedError, CaptchaRequiredError, UnexpectedResponseError, and what `HttpSession.send` throws
 */
export async function getLoginPage(
  settings: SsoSettings,
  session: HttpSession,
  secrets: LoginSecrets,
  identity: string,
): Promise<ServedLoginPage> {
  const ask = (authUrl: string): Promise<StepAnswer> =>
    session.send({ step, url: authorizeUrl(settings, authUrl, secrets, identity) })
  const first = await ask(settings.authUrl)
  const region = first.status === 303 ? await regionOf(first, settings) : undefined
  const { redirectUri } = settings
  const page =
    region === undefined
      ? loginPage(first, settings.authUrl, redirectUri)
      : loginPage(await ask(region), region, redirectUri)
  if (page.asksFor === 'credential') return page
  return submitIdentity(settings, session, secrets, page, identity)
}

/** The first of two pages: its form with the identity, and with nothing secret. */
async function submitIdentity(
  settings: SsoSettings,
  session: HttpSession,
  secrets: LoginSecrets,
  { authUrl, hiddenInputs, knownReasons }: ServedLoginPage,
  identity: string,
): Promise<ServedLoginPage> {
  const url = authorizeUrl(settings, authUrl, secrets)
  const response = await session.send({ step, url, form: [...hiddenInputs, ['identity', identity]] })
  const { status } = response
  if (response.page && findLoginForm(response.page)?.asksFor === 'credential')
    return loginPage(response, authUrl, settings.redirectUri)
  throw submissionError({ status, page: response.page, knownReasons, secrets: [identity] }, { step, status })
}

/** The instance that a 303 names. Only its origin is taken from it: the query of the next request is rebuilt. */
async function regionOf(response: StepAnswer, settings: SsoSettings): Promise<string> {
  const location = leadingTo(response.header('location'), settings.authUrl + authorizePath)
  const region = await allowedInstance(location, settings, step)
  if (region === settings.authUrl || new URL(location ?? '').pathname !== authorizePath) {
    throw new UnexpectedResponseError('its redirect leads to no regional login page', { step, status: response.status })
  }
  return region
}

/** @param redirectUri - told where a page without a form comes: a service that does not know the address answers so */
function loginPage({ status, page }: StepAnswer, authUrl: string, redirectUri: string): FoundLoginPage {
  const form = status === 200 ? page && findLoginForm(page) : undefined
  if (form ? form.captcha : page && showsCaptchaWidget(page)) throw new CaptchaRequiredError({ step, status })
  if (!page || !form) {
    const seen = `status ${status} and ${sightingOf(page)}, in place of a login form`
    throw new UnexpectedResponseError(seen + adviceFor(status, page, redirectUri), { step, status })
  }
  return { authUrl, hiddenInputs: form.hiddenInputs, asksFor: form.asksFor, knownReasons: reasonsOn(page) }
}

/** What may be set wrongly where something else than a login form comes. */
function adviceFor(status: number, page: HtmlPage | undefined, redirectUri: string): string {
  if (status === 404) return ': look at authUrl'
  if (page === undefined || status >= 500) return ''
  return `. If it does not know the redirect address ${redirectUri}, set service ('document', 'current') or redirectUri`
}
