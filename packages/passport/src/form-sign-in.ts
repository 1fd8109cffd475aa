/**
 * `mode: 'form'`: the application's own form takes e-mail and password, and the passcode where the account has one.
 */
import {
  type BackupCodeAnswer,
  type Credentials,
  isSubjectAccount,
  ownerOfEmail,
  type PasscodeAnswer,
  PasscodeRejectedError,
  PendingLoginExpiredError,
  SsoError,
  type TokenSet,
} from '@owner-sso/core'
import { accept } from './verify.ts'
import { askFor, failureOutcome, missing } from './failures.ts'
import type { StrategySettings } from './options.ts'
import type { Outcome, SignInFailure } from './outcomes.ts'
import type { RequestFields } from './request-fields.ts'
import type { SignInRequest } from './sign-in-request.ts'
import type { Ending } from './submissions.ts'
import { afterOneMoreTry, newKeptLogin, triesLeft, type PendingPasscode } from './pending-login.ts'

/** One request of a sign-in by form: it begins one, continues the pending one, or carries nothing. */
export function signInByForm(settings: StrategySettings, incoming: SignInRequest): Promise<Outcome> | Outcome {
  const { identity, credential, passcode, backupCode, notText } = incoming.fields
  const wrong = asText.find(([field]) => notText.includes(field))
  if (wrong) return missing(`${wrong[1]} has to be sent as text, not as a number or a list.`)
  // A subject's name is no e-mail, whatever the service may take for one.
  if (identity && credential && !isSubjectAccount(identity.toLowerCase())) {
    return begin(settings, incoming, { identity, credential })
  }
  if (passcode || backupCode) return continuePending(settings, incoming)
  settings.advise(incoming.request)
  return missing('Enter your e-mail and your password.')
}

const asText = [
  ['identity', 'The e-mail'],
  ['credential', 'The password'],
  // As a number it would have lost its leading zeros.
  ['passcode', 'The passcode'],
  ['backupCode', 'The backup code'],
  ['factor', 'The factor'],
] as const

/** E-mail and password. A passcode in the same request is used as well. */
async function begin(settings: StrategySettings, incoming: SignInRequest, credentials: Credentials): Promise<Outcome> {
  const { session, fields } = incoming
  const send = (): Promise<Ending> => sendCredentials(settings, incoming, credentials)
  if (session === undefined) return (await send()).outcome
  const answer = JSON.stringify([credentials.credential, fields.passcode, fields.factor, fields.backupCode])
  return session.begin(credentials.identity, answer, send)
}

async function sendCredentials(
  settings: StrategySettings,
  incoming: SignInRequest,
  credentials: Credentials,
): Promise<Ending> {
  const begun = await settings.sso.beginLogin(credentials, { signal: incoming.options.signal })
  if (begun.kind === 'tokens') {
    return { outcome: await accepted(settings, incoming, credentials.identity, begun.tokens) }
  }
  const { factors, pending } = begun
  const expiresAt = Math.min(Date.now() / 1000 + settings.pendingLoginTtl, pending.expires_at)
  const { identity } = credentials
  const login: PendingPasscode = { ...newKeptLogin(expiresAt), step: 'passcode', identity, factors, pending }
  const secondFactor = secondFactorFor(login, incoming.fields)
  if (secondFactor === undefined) return { outcome: passcodeRequired(login, incoming), next: login }
  if (secondFactor instanceof PasscodeRejectedError) {
    return { outcome: passcodeRejected(login, secondFactor, incoming), next: login }
  }
  return finish(settings, incoming, login, secondFactor)
}

/** The passcode of a sign-in that an earlier request began. */
async function continuePending(settings: StrategySettings, incoming: SignInRequest): Promise<Outcome> {
  const { session, fields } = incoming
  const answer = JSON.stringify([fields.passcode, fields.factor, fields.backupCode])
  const tooLate = failureOutcome(new PendingLoginExpiredError())
  const again = session?.again(answer)
  if (again) return (await again) ?? tooLate
  const pending = session?.peek()
  if (pending?.step !== 'passcode') return tooLate
  const secondFactor = secondFactorFor(pending, fields)
  if (secondFactor === undefined) return passcodeRequired(pending, incoming)
  if (secondFactor instanceof PasscodeRejectedError) return passcodeRejected(pending, secondFactor, incoming)
  return (await session?.answer(answer, () => finish(settings, incoming, pending, secondFactor))) ?? tooLate
}

async function finish(
  settings: StrategySettings,
  incoming: SignInRequest,
  login: PendingPasscode,
  secondFactor: PasscodeAnswer | BackupCodeAnswer,
): Promise<Ending> {
  let tokens: TokenSet
  try {
    tokens = await settings.sso.completeLogin(login.pending, secondFactor, { signal: incoming.options.signal })
  } catch (error) {
    const next = isUsableAfter(error) ? afterOneMoreTry(login) : undefined
    if (!(error instanceof PasscodeRejectedError)) return { outcome: failureOutcome(error), next }
    const spent = new PasscodeRejectedError('too-many-attempts')
    return { outcome: next ? passcodeRejected(next, error, incoming) : failureOutcome(spent), next }
  }
  return { outcome: await accepted(settings, incoming, login.identity, tokens) }
}

async function accepted(
  settings: StrategySettings,
  incoming: SignInRequest,
  identity: string,
  tokens: TokenSet,
): Promise<Outcome> {
  return accept(settings, incoming.request, ownerOfEmail(identity), tokens).catch(failureOutcome)
}

/**
 * The second factor that the fields have for a pending login: `undefined` if the person still has to enter a passcode or
 * choose a factor, which is never guessed for them.
 */
function secondFactorFor(
  { factors }: PendingPasscode,
  { passcode, factor, backupCode }: RequestFields,
): PasscodeAnswer | BackupCodeAnswer | PasscodeRejectedError | undefined {
  if (!passcode) return backupCode ? { backupCode } : undefined
  if (!factor) return factors.length > 1 ? undefined : { passcode }
  if (!factors.some(({ id }) => id === factor)) return new PasscodeRejectedError('unknown-factor')
  return { passcode, factorId: factor }
}

function passcodeRequired(login: PendingPasscode, incoming: SignInRequest): Outcome {
  const message = incoming.fields.passcode
    ? 'Choose the device that the passcode is from.'
    : 'Enter the current passcode of your device.'
  const more = { code: 'ERR_SSO_PASSCODE_REQUIRED', message, ...nextPage(login, incoming) } as const
  return askFor(more, incoming.session && incoming.options.passcodeRedirect)
}

function passcodeRejected(login: PendingPasscode, error: PasscodeRejectedError, incoming: SignInRequest): Outcome {
  return failureOutcome(error, nextPage(login, incoming))
}

/** What the page that asks for a passcode shows. Without a session nothing waits: the next request brings it all. */
function nextPage(login: PendingPasscode, { session }: SignInRequest): Partial<SignInFailure> {
  return session ? { factors: login.factors, triesLeft: triesLeft(login) } : { factors: login.factors }
}

/** Whether the login can go on after this: the passcode was wrong, or the service was not heard. */
function isUsableAfter(error: unknown): boolean {
  if (error instanceof PasscodeRejectedError) return error.reason !== 'too-many-attempts'
  return (
    error instanceof SsoError &&
    ['ERR_SSO_TIMEOUT', 'ERR_SSO_UNREACHABLE', 'ERR_SSO_FIREWALL_CHALLENGE'].includes(error.code)
  )
}
