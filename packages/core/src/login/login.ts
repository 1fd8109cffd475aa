/**
 * The login, as the interface document tells it: one call for each of its endpoints, in its order.
 */
import type { SsoError, TokenSet } from '@owner-sso/token-manager'
import { PendingLoginExpiredError } from '../errors.ts'
import { newLoginSecrets } from '../steps/authorization-request.ts'
import { exchangeCode, type ExchangedTokens } from '../steps/code-exchange.ts'
import {
  type Credentials,
  type FailedSubmission,
  submitLoginForm,
  submitTransaction,
} from '../steps/form-submission.ts'
import type { HttpSession } from '../http/http-session.ts'
import { getLoginPage } from '../steps/login-page.ts'
import { type Factor, listFactors } from '../steps/mfa-factors.ts'
import { attemptBackupCode, verifyPasscode } from '../steps/mfa-verify.ts'
import { type PasscodePage, unexpectedSecondPasscodePage, verificationOf } from '../pages/passcode-page.ts'
import type { ChosenAnswer } from './factor-choice.ts'
import type { PendingLoginData } from './pending-login.ts'
import type { ServiceContext } from '../service/options.ts'

/**
 * The login up to its end, or up to the page that asks for a passcode: 3 requests, or 2; one more over a region, and one more
 * where the e-mail has a page of its own.
 */
export async function beginLogin(
  service: ServiceContext,
  session: HttpSession,
  credentials: Credentials,
): Promise<ExchangedTokens | { readonly kind: 'passcode-required'; readonly login: PendingLoginData }> {
  const secrets = newLoginSecrets()

  // 1. GET /oauth2/v3/authorize: the login page, at the account's own region.
  const page = await getLoginPage(service, session, secrets, credentials.identity)

  // 2. POST /oauth2/v3/authorize: the authorization code; or already the page that asks for a passcode.
  const submission = await submitLoginForm(service, session, secrets, page, credentials)
  if (submission.kind === 'failed') throw submission.error

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

/** The devices that a passcode can come from: 1 request, made only where somebody is there to answer. */
export function listLoginFactors(
  session: HttpSession,
  { page, verification }: PendingLoginData,
): Promise<readonly Factor[]> {
  // 4. GET /oauth2/v3/authorize/mfa/factors.
  return listFactors(session, page.authUrl, verification.transactionId)
}

/** The rest of a login: 3 requests; one more where the service wants the form's `transaction_id` alone. */
export async function completeLogin(
  service: ServiceContext,
  session: HttpSession,
  { credentials, secrets, page, verification }: PendingLoginData,
  answer: ChosenAnswer,
): Promise<TokenSet> {
  // 5. POST /oauth2/v3/authorize/mfa/verify: the passcode, or a backup code in its place.
  if ('backupCode' in answer) await attemptBackupCode(session, page.authUrl, verification, answer.backupCode)
  else await verifyPasscode(session, page.authUrl, verification, answer.factorId, answer.passcode)

  // 2. again: POST /oauth2/v3/authorize, the same form, which now gives a code that can be exchanged.
  const form = await submitLoginForm(service, session, secrets, page, credentials)

  // As recorded: the transaction_id alone, where the whole form led to the passcode page again.
  const submission =
    form.kind === 'passcode-page'
      ? await submitTransaction(service, session, secrets, page, verification.transactionId)
      : form
  if (submission.kind !== 'code') throw noCodeAfterPasscode(submission)

  // 3. again: POST /oauth2/v3/token.
  const exchange = await exchangeCode(service, session, secrets, page.authUrl, submission.code)
  if (exchange.kind === 'passcode-page') throw unexpectedSecondPasscodePage('code-exchange')
  return exchange.tokens
}

/**
 * Why there is no code although the passcode was accepted. The same e-mail and password were accepted before it, so a page
 * that asks for them again does not mean that they are wrong: the service has forgotten this login.
 */
function noCodeAfterPasscode(submission: PasscodePage | FailedSubmission): SsoError {
  if (submission.kind === 'passcode-page') return unexpectedSecondPasscodePage('form-submission')
  const { error, asksForCredentials } = submission
  const isAboutAccount = error.code === 'ERR_SSO_ACCOUNT_LOCKED' || error.code === 'ERR_SSO_CAPTCHA_REQUIRED'
  if (isAboutAccount || !asksForCredentials) return error
  return new PendingLoginExpiredError({ step: error.step, status: error.status })
}
