/**
 * `login`, `beginLogin` and `completeLogin`: the flow of `login.ts`, with a session opened before it and closed after it.
 */
import { type CallOptions, checkOptionNames, SsoTimeoutError, type TokenSet } from '@owner-sso/token-manager'
import { unlessAborted, whatCame } from '@owner-sso/token-manager/support'
import { PasscodeRequiredError } from '../errors.ts'
import { askForPasscode, chosenAnswer, secondFactorAnswer, type SecondFactorAnswer } from './factor-choice.ts'
import { carriedCookies as carried } from '../http/axios-client.ts'
import { type HttpSession, openSession } from '../http/http-session.ts'
import * as flow from './login.ts'
import { pendingLogin, resumeLogin } from './pending-login.ts'
import type { SsoContext } from './sso-context.ts'
import type { LoginOutcome, PasscodeSource, PendingLogin } from './sso.ts'
import type { Credentials } from '../steps/form-submission.ts'
import { secretFromText, emailFromText } from '../support/setting-text.ts'

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
    throw new TypeError(
      `passcode must be a string (leading zeros count) or a function that returns one${whatCame(passcode)}`,
    )
  }
  return withSession(openSession(service, options, { carried }), async (session) => {
    const begun = await begin(service, session, credentials, options)
    if (begun.kind === 'tokens') return begun.tokens
    if (passcode === undefined) {
      throw new PasscodeRequiredError('no-passcode', { step: 'mfa-verify', requestSent: false })
    }
    const factors = await flow.listLoginFactors(session, begun.login)
    const answer = await unlessAborted(askForPasscode(passcode, factors), options.signal, nobodyAnswered)
    return flow.completeLogin(service, session, begun.login, chosenAnswer(factors, answer))
  })
}

export async function beginLogin(service: SsoContext, given: Credentials, options: CallOptions): Promise<LoginOutcome> {
  checkOptionNames('beginLogin', given, { identity: true, credential: true })
  const credentials = checkCredentials(service, given)
  return withSession(openSession(service, options, { carried }), async (session) => {
    const begun = await begin(service, session, credentials, options)
    if (begun.kind === 'tokens') return begun
    const factors = await flow.listLoginFactors(session, begun.login)
    const cookies = session.cookies(begun.login.page.authUrl)
    const pending = pendingLogin({ ...begun.login, factors, cookies }, service.now())
    return { kind: 'passcode-required', factors, pending }
  })
}

/** `Sso.completeLogin`: on a connection of its own, with the cookies of the first part. */
export async function completeLogin(
  service: SsoContext,
  pending: PendingLogin,
  given: SecondFactorAnswer,
  options: CallOptions,
): Promise<TokenSet> {
  const answer = secondFactorAnswer(given)
  const { factors, cookies, ...resumed } = await resumeLogin(pending, service)
  const chosen = chosenAnswer(factors, answer)
  const restored = { origin: resumed.page.authUrl, cookies }
  return withSession(openSession(service, options, { carried, restored }), async (session) => {
    const tokens = await flow.completeLogin(service, session, resumed, chosen)
    service.completedLogins.remember(resumed.secrets.state)
    return tokens
  })
}

/** Posts identity and credential, after any login with the same pair that is posting them now. */
function begin(
  service: SsoContext,
  session: HttpSession,
  credentials: Credentials,
  { signal }: CallOptions,
): ReturnType<typeof flow.beginLogin> {
  return service.credentialPosts.inTurn(credentials, signal, () => flow.beginLogin(service, session, credentials))
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
function checkCredentials(service: SsoContext, given: Credentials): Credentials {
  if (typeof given.identity !== 'string' || given.identity === '')
    throw new TypeError(`identity must be the e-mail of the account${came(given.identity)}`)
  const credential = typeof given.credential === 'string' ? secretFromText(given.credential, 'credential') : ''
  if (credential === '') throw new TypeError(`credential must be the password${came(given.credential)}`)
  const identity = emailFromText(given.identity, 'identity')
  service.credentialPosts.throwIfRejected({ identity, credential })
  return { identity, credential }
}

const came = (value: unknown): string => (value === '' ? '; it is empty' : whatCame(value))

const nobodyAnswered = (): SsoTimeoutError =>
  new SsoTimeoutError('The login was aborted while it waited for a passcode.', { step: 'mfa-factors' })
