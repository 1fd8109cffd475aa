/**
 * The login, as the interface document tells it: one call for each of its endpoints, in its order.
 */
import type { SsoError, TokenSet } from '@owner-sso/token-manager'
import { PendingLoginExpiredError } from '../errors.ts'
import { newLoginSecrets } from '../steps/authorization-request.ts'
import { exchangeCode } from '../steps/code-exchange.ts'
import { chosenFactor, type SecondFactorAnswer } from './factor-choice.ts'
import { type Refusal, submitLoginForm, submitTransaction } from '../steps/form-submission.ts'
import type { HttpSession } from '../http/http-session.ts'
import { getLoginPage } from '../steps/login-page.ts'
import { listFactors } from '../steps/mfa-factors.ts'
import { attemptBackupCode, verifyPasscode } from '../steps/mfa-verify.ts'
import { type PasscodePage, unexpectedSecondPasscodePage, verificationOf } from '../pages/passcode-page.ts'
import type { LoginInProgress } from './pending-login.ts'
import type { SsoContext } from './sso-context.ts'
import type { Credentials } from './sso.ts'

/** How far a login gets with identity and credential. */
export type LoginProgress =
  | { readonly kind: 'tokens'; readonly tokens: TokenSet }
  | { readonly kind: 'passcode-required'; readonly login: LoginAtPasscode }

/** A login that has met the page that asks for a passcode. */
export type LoginAtPasscode = Omit<LoginInProgress, 'factors' | 'cookies'>

/**
 * The login up to its end, or up to the page that asks for a passcode: 3 requests, or 2; one more over a region, and one more
 * where the e-mail has a page of its own.
 */
export async function beginLogin(
  service: SsoContext,
  session: HttpSession,
  credentials: Credentials,
): Promise<LoginProgress> {
  const secrets = newLoginSecrets()

  // 1. GET /oauth2/v3/authorize: the login page, at the account's own region.
  const page = await getLoginPage(service, session, secrets, credentials.identity)

  // 2. POST /oauth2/v3/authorize: the authorization code; or already the page that asks for a passcode.
  const submission = await submitLoginForm(service, session, secrets, page, credentials)
  if (submission.kind === 'refusal') throw submission.error

  // 3. POST /oauth2/v3/token: the tokens; or, as documented, the page that asks for a passcode.
  const exchange =
    submission.kind === 'code'
      ? await exchangeCode(service, session, secrets, page.authUrl, submission.code)
      : submission
  if (exchange.kind === 'tokens') return exchange

  const verification = verificationOf(exchange, page.hiddenInputs)
  const { authUrl, hiddenInputs } = page
  return { kind: 'passcode-required', login: { credentials, secrets, page: { authUrl, hiddenInputs }, verification } }
}

/** What the passcode can come from: 1 request, made only where somebody is there to answer. */
export async function listLoginFactors(session: HttpSession, login: LoginAtPasscode): Promise<LoginInProgress> {
  const { page, verification } = login

  // 4. GET /oauth2/v3/authorize/mfa/factors.
  const factors = await listFactors(session, page.authUrl, verification.transactionId)
  return { ...login, factors, cookies: session.cookies(page.authUrl) }
}

/** The rest of a login: 3 requests; one more where the service wants the form's `transaction_id` alone. */
export async function completeLogin(
  service: SsoContext,
  session: HttpSession,
  login: LoginInProgress,
  secondFactor: SecondFactorAnswer,
): Promise<TokenSet> {
  const { credentials, secrets, page, verification, factors } = login

  // 5. POST /oauth2/v3/authorize/mfa/verify: the passcode, or a backup code in its place.
  if ('backupCode' in secondFactor)
    await attemptBackupCode(session, page.authUrl, verification, secondFactor.backupCode)
  else
    await verifyPasscode(
      session,
      page.authUrl,
      verification,
      chosenFactor(factors, secondFactor),
      secondFactor.passcode,
    )

  // 2. again: POST /oauth2/v3/authorize, the same form, which now gives a code that can be exchanged.
  const form = await submitLoginForm(service, session, secrets, page, credentials)

  // As recorded: the transaction_id alone, where the whole form led to the passcode page again.
  const submission =
    form.kind === 'passcode-page'
      ? await submitTransaction(service, session, secrets, page, verification.transactionId)
      : form
  if (submission.kind !== 'code') throw notLetIn(submission)

  // 3. again: POST /oauth2/v3/token.
  const exchange = await exchangeCode(service, session, secrets, page.authUrl, submission.code)
  if (exchange.kind === 'passcode-page') throw unexpectedSecondPasscodePage('code-exchange')
  return exchange.tokens
}

/** Why an accepted passcode led nowhere. A pair that was accepted before it can't be wrong after it: the login was forgotten. */
function notLetIn(submission: PasscodePage | Refusal): SsoError {
  if (submission.kind === 'passcode-page') return unexpectedSecondPasscodePage('form-submission')
  const { error, fromTheStart } = submission
  const says = error.code === 'ERR_SSO_ACCOUNT_LOCKED' || error.code === 'ERR_SSO_CAPTCHA_REQUIRED'
  return says || !fromTheStart ? error : new PendingLoginExpiredError({ step: error.step, status: error.status })
}
