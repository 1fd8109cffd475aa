/**
 * `login`, `beginLogin` and `completeLogin`: the story of `login.ts`, with a session opened before it and closed after it.
 */
import { type CallOptions, checkOptionNames, SsoTimeoutError, type TokenSet } from '@owner-sso/token-manager'
import { unlessAborted } from '@owner-sso/token-manager/support'
import { PasscodeRequiredError } from '../errors.ts'
import { askForPasscode, secondFactorAnswer, type SecondFactorAnswer } from './factor-choice.ts'
import { carriedCookies as carried } from '../http/cookie-agents.ts'
import { type HttpSession, openSession } from '../http/http-session.ts'
import * as story from './login.ts'
import type { LoginProgress } from './login.ts'
import { pendingLogin, resumeLogin } from './pending-login.ts'
import type { SsoContext } from './sso-context.ts'
import type { Credentials, LoginOutcome, PasscodeSource, PendingLogin } from './sso.ts'

/** `Sso.login`: the whole of it on one connection. */
export async function login(
  service: SsoContext,
  given: Credentials & { readonly passcode?: PasscodeSource | undefined },
  options: CallOptions,
): Promise<TokenSet> {
  checkOptionNames('login', given, { identity: true, credential: true, passcode: true })
  const { passcode } = given
  const credentials = checkCredentials(service, given)
  if (passcode !== undefined && typeof passcode !== 'string' && typeof passcode !== 'function') {
    throw new TypeError('passcode must be a string (leading zeros count) or a function that returns one')
  }
  return withSession(openSession(service, options, { carried }), async (session) => {
    const begun = await begin(service, session, credentials, options)
    if (begun.kind === 'tokens') return begun.tokens
    if (passcode === undefined) {
      throw new PasscodeRequiredError('no-passcode', { step: 'mfa-verify', requestSent: false })
    }
    const inProgress = await story.listLoginFactors(session, begun.login)
    const secondFactor = await unlessAborted(
      askForPasscode(passcode, inProgress.factors),
      options.signal,
      nobodyAnswered,
    )
    return story.completeLogin(service, session, inProgress, secondFactor)
  })
}

/** `Sso.beginLogin`. */
export async function beginLogin(service: SsoContext, given: Credentials, options: CallOptions): Promise<LoginOutcome> {
  checkOptionNames('beginLogin', given, { identity: true, credential: true })
  const credentials = checkCredentials(service, given)
  return withSession(openSession(service, options, { carried }), async (session) => {
    const begun = await begin(service, session, credentials, options)
    if (begun.kind === 'tokens') return begun
    const inProgress = await story.listLoginFactors(session, begun.login)
    const pending = pendingLogin(inProgress, service.now())
    return { kind: 'passcode-required', factors: inProgress.factors, pending }
  })
}

/** `Sso.completeLogin`: on a connection of its own, with the cookies of the first part. */
export async function completeLogin(
  service: SsoContext,
  pending: PendingLogin,
  given: SecondFactorAnswer,
  options: CallOptions,
): Promise<TokenSet> {
  const secondFactor = secondFactorAnswer(given)
  const inProgress = resumeLogin(pending, service)
  const restored = { origin: inProgress.page.authUrl, cookies: inProgress.cookies }
  return withSession(openSession(service, options, { carried, restored }), async (session) => {
    const tokens = await story.completeLogin(service, session, inProgress, secondFactor)
    service.completedLogins.remember(inProgress.secrets.state)
    return tokens
  })
}

/** Identity and credential, in their turn. */
function begin(
  service: SsoContext,
  session: HttpSession,
  credentials: Credentials,
  { signal }: CallOptions,
): Promise<LoginProgress> {
  return service.credentialPosts.inTurn(credentials, signal, () => story.beginLogin(service, session, credentials))
}

async function withSession<T>(session: HttpSession, use: (session: HttpSession) => Promise<T>): Promise<T> {
  try {
    return await use(session)
  } finally {
    session.close()
  }
}

/**
 * Credentials that may be posted.
 *
 * @throws TypeError; InvalidCredentialsError, without a request, for a pair that the service has rejected before
 */
function checkCredentials(service: SsoContext, { identity, credential }: Credentials): Credentials {
  if (typeof identity !== 'string' || identity === '') throw new TypeError('identity must be the e-mail of the account')
  if (typeof credential !== 'string' || credential === '') throw new TypeError('credential must be the password')
  service.credentialPosts.refuseRejected({ identity, credential })
  return { identity, credential }
}

const nobodyAnswered = (): SsoTimeoutError =>
  new SsoTimeoutError('The login was aborted while it waited for a passcode.', { step: 'mfa-factors' })
