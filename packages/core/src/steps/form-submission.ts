/**
 * Endpoint 2 of the interface document: POST /oauth2/v3/authorize, obtain an authorization code.
 */
import { type SsoError, type SsoErrorOptions, UnexpectedResponseError } from '@owner-sso/token-manager'
import { authorizePath, authorizeUrl, type LoginSecrets } from './authorization-request.ts'
import { leadingTo, readCallback } from './callback.ts'
import { IssuerMismatchError } from '../errors.ts'
import type { HttpSession, StepAnswer } from '../http/http-session.ts'
import type { LoginPage, ServedLoginPage } from './login-page.ts'
import { asksForCredential, submissionError } from '../pages/submission-error.ts'
import { type PasscodePage, readPasscodePage } from '../pages/passcode-page.ts'
import type { SsoSettings } from '../service/options.ts'
import { instanceAt } from '../service/region.ts'

const step = 'form-submission'

/** The account: `identity` is the e-mail, `credential` the password (interface document, endpoint 2). */
export interface Credentials {
  readonly identity: string
  readonly credential: string
}

/** An authorization code, for one exchange at the instance that issued it. */
export interface AuthorizationCode {
  readonly kind: 'code'
  readonly code: string
}

/** The form was not accepted. */
export interface FailedSubmission {
  readonly kind: 'failed'
  readonly error: SsoError
  /** The page asks for e-mail and password again, or its status is 401. */
  readonly asksForCredentials: boolean
}

/**
 * Submits the login form: every hidden input as found, the identity and the credential. The redirect that answers it is
 * read, never followed.
 *
 * @throws StateMismatchError, IssuerMismatchError, UnexpectedResponseError, and what `HttpSession.send` throws
 */
export async function submitLoginForm(
  settings: SsoSettings,
  session: HttpSession,
  secrets: LoginSecrets,
  page: LoginPage & Partial<ServedLoginPage>,
  { identity, credential }: Credentials,
): Promise<AuthorizationCode | PasscodePage | FailedSubmission> {
  const response = await session.send({
    step,
    url: authorizeUrl(settings, page.authUrl, secrets),
    form: [...page.hiddenInputs, ['identity', identity], ['credential', credential]],
  })
  return readSubmissionResponse(settings, secrets, page, response, [identity, credential])
}

/**
 * Submits the `transaction_id` of a verified passcode and nothing else, as recordings do.
 *
 * @throws the same
 */
export async function submitTransaction(
  settings: SsoSettings,
  session: HttpSession,
  secrets: LoginSecrets,
  page: LoginPage,
  transactionId: string,
): Promise<AuthorizationCode | PasscodePage | FailedSubmission> {
  const url = authorizeUrl(settings, page.authUrl, secrets)
  const response = await session.send({ step, url, form: [['transaction_id', transactionId]] })
  return readSubmissionResponse(settings, secrets, page, response, [])
}

async function readSubmissionResponse(
  settings: SsoSettings,
  secrets: LoginSecrets,
  { authUrl, knownReasons = [] }: LoginPage & Partial<ServedLoginPage>,
  response: StepAnswer,
  sent: readonly string[],
): Promise<AuthorizationCode | PasscodePage | FailedSubmission> {
  const { status, page } = response
  const where: SsoErrorOptions = { step, status }
  if (status === 302) {
    const { redirectUri } = settings
    const location = leadingTo(response.header('location'), authUrl + authorizePath)
    const { code, issuer } = readCallback(location, { redirectUri, state: secrets.state }, where)
    // `issuer` is the address with or without a base path: the instance is what counts.
    if ((await instanceAt(issuer, settings)) !== authUrl) throw new IssuerMismatchError(where)
    return { kind: 'code', code }
  }
  // Of the errors on our side, services choose any: the page tells.
  if (status === 200 || (status >= 400 && status < 500)) {
    const asksForCredentials = status === 401 || (page !== undefined && asksForCredential(page))
    const error = submissionError({ status, page, knownReasons, secrets: sent }, where)
    return readPasscodePage(page) ?? { kind: 'failed', error, asksForCredentials }
  }
  throw new UnexpectedResponseError(`status ${status} in place of the redirect to redirect_uri`, where)
}
