/**
 * Endpoint 2, POST /oauth2/v3/authorize: the submitted login form, answered with an authorization code.
 */
import type { Account } from '../state/accounts.ts'
import { authorizeCookies, loginPageResponse, passcodePageResponse, refusal } from './authorize-responses.ts'
import { isBareQuery, isSameRequest, readAuthorizationRequest } from '../state/authorization-request.ts'
import { captchaLetters, captchaProblem } from '../pages/captcha.ts'
import { isBrowser } from '../state/firewall.ts'
import { issuerOf } from '../http/instances.ts'
import { withReason, redirectResponse, type ServiceResponse } from '../http/service-response.ts'
import type { ServiceState } from '../state/service-state.ts'
import type { ServiceRequest } from '../http/service-request.ts'
import { askForCredential, awaitPasscode, sessionCookie, type Session } from '../state/sessions.ts'
import { isLenient, isRegistered, isPasscodeCsrf, isPostedBack } from '../state/strictness.ts'

export function formSubmissionEndpoint(service: ServiceState, request: ServiceRequest): ServiceResponse {
  service.counters.formPosts += 1
  const bare = isLenient(service.settings) && isBareQuery(request.query)
  const asked = bare ? undefined : readAuthorizationRequest(request.query, service)
  if (typeof asked === 'string') return refusal(service, 400, asked)
  if (request.contentType !== 'application/x-www-form-urlencoded') {
    return refusal(service, 400, 'The form must be sent as application/x-www-form-urlencoded.')
  }
  const session = service.sessions.find(request.cookies.get(sessionCookie), request.instance)
  if (!session) return refusal(service, 403, 'Your session is unknown or has expired. Open the login page again.')
  if (asked && !isSameRequest(asked, session.request)) {
    return refusal(service, 400, "The parameters differ from those of this session's login page.", session)
  }

  const form = new URLSearchParams(request.body)
  // The page's button comes in addition to its hidden input, so the field may have two values.
  if (form.getAll(session.names.cancel).includes('1')) return cancelled(service, session, form)
  if (isVerifiedTransaction(session, form)) {
    if (isVouchedFor(service, session, form)) return issueCode(service, session)
    return refusal(service, 400, 'After a verification the whole form has to be posted again.', session)
  }

  const problem = hiddenInputProblem(service, session, form)
  if (problem) return refusal(service, problem.status, problem.message, session)
  if (session.asksFor === 'identity') return passwordPage(service, session, form)
  return signIn(service, session, form, isBrowser(request.userAgent))
}

/** The second of two pages, with the e-mail of the first; a password was not asked for yet. */
function passwordPage(service: ServiceState, session: Session, form: URLSearchParams): ServiceResponse {
  if (form.has('credential')) return refusal(service, 400, 'This page asks for no password.', session)
  const identity = fieldOf(form, 'identity') ?? ''
  if (identity === '') return loginPageResponse(service, session, { message: 'Enter your email', identity })
  askForCredential(session, service.settings)
  if (service.accounts.find(identity)?.captcha === true) session.captcha = captchaLetters()
  return loginPageResponse(service, session, { identity })
}

function signIn(service: ServiceState, session: Session, form: URLSearchParams, inBrowser: boolean): ServiceResponse {
  const identity = fieldOf(form, 'identity') ?? ''
  const account = service.accounts.find(identity)
  const captcha = captchaProblem(session, account, fieldOf(form, 'captcha'))
  if (captcha !== undefined) return loginPageResponse(service, session, { message: captcha, identity })

  service.counters.credentialChecks += 1
  if (account?.locked) return loginPageResponse(service, session, { message: 'Your account has been locked', identity })
  const rightPlace = account?.region === session.instance.region
  if (!account || !rightPlace || fieldOf(form, 'credential') !== account.credential) {
    return loginPageResponse(service, session, { status: 401, message: 'We could not sign you in', identity })
  }

  const { pending } = session
  if (pending?.verified && pending.account === account) {
    const isEnough = service.settings.formAfterPasscode === 'whole'
    return isEnough ? issueCode(service, session) : passcodePageResponse(service, session, pending)
  }
  // A person's browser never makes the exchange, so it meets the passcode page here, wherever programs do.
  const isHere = inBrowser || isRegistered(service.settings) || service.settings.mfaAt === 'form-submission'
  if (account.factors.length > 0 && isHere) {
    return passcodePageResponse(service, session, awaitPasscode(service, session, account))
  }
  return redirectWithCode(service, session, account, account.factors.length === 0)
}

/** A form without an identity that names a verified transaction: the passcode page's own, or a legacy client's. */
function isVerifiedTransaction(session: Session, form: URLSearchParams): boolean {
  const { transactionId } = session.names
  // The passcode page keeps the document's names, whatever the login page calls them.
  const transaction = fieldOf(form, transactionId) ?? fieldOf(form, 'transaction_id')
  const known = session.pending?.verified && transaction === session.transactionId
  return known === true && !form.has('identity')
}

/** The passcode page's form has its own `_csrf`; a legacy client posts the login page's, or the transaction id alone. */
function isVouchedFor({ settings }: ServiceState, { names, pending }: Session, form: URLSearchParams): boolean {
  if (settings.formAfterPasscode === 'transaction-id') return true
  return pending !== undefined && isPasscodeCsrf(settings, form.get('_csrf') ?? form.get(names.csrf), pending)
}

/** The code for a verified transaction that the query names; undefined if there is none. */
export function verifiedTransactionResponse(
  service: ServiceState,
  request: ServiceRequest,
): ServiceResponse | undefined {
  const session = service.sessions.find(request.cookies.get(sessionCookie), request.instance)
  const verified = session?.pending?.verified && request.query.get('transaction_id') === session.transactionId
  return session && verified ? issueCode(service, session) : undefined
}

/** The code that a verified passcode stands for, once. */
function issueCode(service: ServiceState, session: Session): ServiceResponse {
  const { pending } = session
  delete session.pending
  return pending
    ? redirectWithCode(service, session, pending.account, true)
    : refusal(service, 403, 'This sign-in is over. Open the login page again.', session)
}

function redirectWithCode(
  service: ServiceState,
  session: Session,
  account: Account,
  complete: boolean,
): ServiceResponse {
  const code = service.codes.issue({ session, account, complete })
  const { redirectUri, state } = session.request
  const location = { code, state, issuer: issuerOf(session.instance) }
  return withReason(
    complete ? 'signed in: a code issued' : 'a code issued, the passcode is due at the exchange',
    redirectTo(service, session, redirectUri, location),
  )
}

/** Field notes: `transaction_id` and `cancel=1` end in a redirect with an error. */
function cancelled(service: ServiceState, session: Session, form: URLSearchParams): ServiceResponse {
  if (fieldOf(form, session.names.transactionId) !== session.transactionId) {
    return refusal(service, 403, 'This transaction is unknown.', session)
  }
  delete session.pending
  const { redirectUri, state } = session.request
  const outcome = { error: 'login_cancelled', error_description: 'User cancelled login' }
  return withReason(
    'the login was cancelled',
    redirectTo(service, session, redirectUri, { ...outcome, state, issuer: issuerOf(session.instance) }),
  )
}

function redirectTo(
  service: ServiceState,
  session: Session,
  redirectUri: string,
  parameters: Readonly<Record<string, string>>,
): ServiceResponse {
  const location = new URL(redirectUri)
  for (const [name, value] of Object.entries(parameters)) {
    location.searchParams.append(name, value)
  }
  return redirectResponse(302, location.href, authorizeCookies(service, session))
}

/** Every hidden input found on the page has to come back with the value found. */
function hiddenInputProblem(
  { settings }: ServiceState,
  { hidden, names }: Session,
  form: URLSearchParams,
): { readonly status: 400 | 403; readonly message: string } | undefined {
  if (!isPostedBack(settings, fieldOf(form, names.csrf), hidden.get(names.csrf))) {
    return { status: 403, message: 'The form was not filled in on our page. Open the login page again.' }
  }
  const missing = [...hidden].find(([name, value]) => !isPostedBack(settings, fieldOf(form, name), value))
  return missing && { status: 400, message: `The hidden field ${missing[0]} is missing or was changed.` }
}

/** The field's value; one that comes twice with different values has none. */
function fieldOf(form: URLSearchParams, name: string): string | null {
  const values = new Set(form.getAll(name))
  return values.size === 1 ? form.get(name) : null
}
