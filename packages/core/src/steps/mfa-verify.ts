/**
 * Endpoint 5 of the interface document: POST …/authorize/mfa/verify, verify a passcode; and its recorded sibling that
 * takes a backup code.
 */
import { type SsoError, UnexpectedResponseError } from '@owner-sso/token-manager'
import { authorizePath } from './authorization-request.ts'
import { PasscodeRejectedError, type PasscodeRejection, PendingLoginExpiredError } from '../errors.ts'
import type { HttpSession, StepAnswer } from '../http/http-session.ts'
import { asJsonObject, type JsonObject, parseJsonObject } from '@owner-sso/token-manager/http'
import type { Verification } from '../pages/passcode-page.ts'
import { isExpired, mfaErrorCode } from './mfa-factors.ts'

const step = 'mfa-verify'

/** Recorded error codes that mean "not this passcode". */
const rejections: ReadonlyMap<unknown, PasscodeRejection> = new Map([
  ['ERR_OBJECT_VALIDATION', 'invalid'],
  ['ERR_PASS_CODE_REPLAY', 'replayed'],
  ['ERR_INVALID_FACTOR', 'unknown-factor'],
  ['ERR_MAX_VERIFICATION_ATTEMPTS', 'too-many-attempts'],
])

/**
 * Verifies a passcode of a factor. `valid` of the answer decides: a wrong passcode is answered with 200 and
 * `approved: true` (recordings).
 *
 * @throws PasscodeRejectedError, PendingLoginExpiredError, UnexpectedResponseError, and what `HttpSession.send` throws
 */
export async function verifyPasscode(
  session: HttpSession,
  authUrl: string,
  { transactionId, csrf }: Verification,
  factorId: string,
  passcode: string,
): Promise<void> {
  const url = new URL(`${authorizePath}/mfa/verify`, authUrl)
  const json = { transaction_id: transactionId, factor_id: factorId, passcode, _csrf: csrf }
  requireValid(await session.send({ step, url, json }))
}

/** Spends a backup code in place of a passcode. @throws like {@link verifyPasscode} */
export async function attemptBackupCode(
  session: HttpSession,
  authUrl: string,
  { transactionId }: Verification,
  backupCode: string,
): Promise<void> {
  const url = new URL(`${authorizePath}/mfa/backupcodes/attempt`, authUrl)
  requireValid(await session.send({ step, url, json: { transaction_id: transactionId, backup_code: backupCode } }))
}

function requireValid(response: StepAnswer): void {
  const { status } = response
  const body = parseJsonObject(response.body)
  const verdict = asJsonObject(body?.get('data'))
  if (status === 200 && verdict?.get('valid') === true) return
  throw verificationError(mfaErrorCode(body), verdict, status)
}

function verificationError(code: unknown, verdict: JsonObject | undefined, status: number): SsoError {
  const where = { step, status } as const
  if (isExpired(code)) return new PendingLoginExpiredError(where)
  const locked = verdict?.get('locked') === true || verdict?.get('attemptsRemaining') === 0
  const wrong = verdict?.get('valid') === false ? 'invalid' : undefined
  const reason = locked ? 'too-many-attempts' : (rejections.get(code) ?? wrong)
  return reason
    ? new PasscodeRejectedError(reason, where)
    : new UnexpectedResponseError(`status ${status} without a verdict on the passcode`, where)
}
