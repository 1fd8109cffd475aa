/**
 * Endpoints 4 and 5: the factors of an account, and the verification of a passcode or backup code.
 */
import { randomUUID } from 'node:crypto'
import { withReason, jsonResponse, type ServiceResponse } from '../http/service-response.ts'
import type { ServiceState } from '../state/service-state.ts'
import { readJsonFields, type Fields, type ServiceRequest } from '../http/service-request.ts'
import { sessionCookie, type AskedPasscode } from '../state/sessions.ts'
import { isPasscodeCsrf } from '../state/strictness.ts'

const maxAttempts = 5
const maxBackupAttempts = 10

export function factorsEndpoint(service: ServiceState, request: ServiceRequest): ServiceResponse {
  const pending = pendingOf(service, request, request.query.getAll('transaction_id'))
  if ('error' in pending) return pending.error
  const data = pending.account.factors.map(({ id, name, activatedAt }) => ({
    dispatchRequired: false,
    id,
    name,
    factorType: 'token:software',
    factorProvider: 'EMULATOR',
    securityLevel: 1,
    activatedAt,
    updatedAt: activatedAt,
  }))
  const decision = data.length === 1 ? 'one factor listed' : `${data.length} factors listed`
  return withReason(decision, jsonResponse(200, { data }))
}

/** POST …/authorize/mfa/verify. A wrong passcode is a 200, too: `valid` decides. */
export function verifyEndpoint(service: ServiceState, request: ServiceRequest): ServiceResponse {
  const fields = bodyFields(request)
  const pending = pendingOf(service, request, valuesOf(fields, 'transaction_id'))
  if ('error' in pending) return pending.error
  if (!isPasscodeCsrf(service.settings, fields?.get('_csrf'), pending)) {
    return mfaError(403, 'UNAUTHORIZED', 'The _csrf is missing or wrong')
  }
  const factorId = fields?.get('factor_id')
  const passCode = fields?.get('passcode')
  if (!factorId || !passCode) return mfaError(400, 'ERR_OBJECT_VALIDATION', 'factor_id and passcode are required')
  const factor = pending.account.factors.find(({ id }) => id === factorId)
  if (!factor) return mfaError(400, 'ERR_INVALID_FACTOR', 'The account has no such factor')
  if (pending.attempts >= maxAttempts) {
    return mfaError(400, 'ERR_MAX_VERIFICATION_ATTEMPTS', 'Too many wrong passcodes. Sign in again.')
  }

  service.counters.passcodeChecks += 1
  const outcome = factor.check(passCode, service.clock.now())
  if (outcome !== 'valid') pending.attempts += 1
  if (outcome === 'replayed') {
    return mfaError(400, 'ERR_PASS_CODE_REPLAY', 'This passcode was used already. Wait for the next one.')
  }
  const valid = outcome === 'valid'
  if (valid) pending.verified = true
  const at = new Date(service.clock.now() * 1000).toISOString()
  const verification = { id: randomUUID(), challengeId: randomUUID(), factorId, passCode }
  const data = { ...verification, approved: true, flagged: false, valid, createdAt: at, updatedAt: at }
  const decision = valid
    ? `the passcode of ${factor.name} is right`
    : `wrong passcode, ${pending.attempts} of ${maxAttempts}`
  return withReason(decision, jsonResponse(200, { data }), !valid)
}

export function backupCodeEndpoint(service: ServiceState, request: ServiceRequest): ServiceResponse {
  const fields = bodyFields(request)
  const pending = pendingOf(service, request, valuesOf(fields, 'transaction_id'))
  if ('error' in pending) return pending.error
  const code = fields?.get('backup_code')
  if (!code) return mfaError(400, 'ERR_OBJECT_VALIDATION', 'backup_code is required')

  const { account } = pending
  const locked = pending.backupAttempts >= maxBackupAttempts
  if (!locked) service.counters.passcodeChecks += 1
  const valid = !locked && account.backupCodes.includes(code)
  if (valid) {
    pending.verified = true
    account.backupCodes = account.backupCodes.filter((each) => each !== code)
  } else if (!locked) pending.backupAttempts += 1
  const attemptsRemaining = maxBackupAttempts - pending.backupAttempts
  const message = valid ? null : locked ? 'Too many attempts' : 'The backup code is not valid'
  const data = {
    valid,
    reason: valid ? null : locked ? 'LOCKED' : 'INVALID_CODE',
    message,
    codesRemaining: account.backupCodes.length,
    attemptsRemaining,
    locked: attemptsRemaining === 0,
  }
  return withReason(
    message ?? `the backup code is right, ${account.backupCodes.length} left`,
    jsonResponse(200, { data }),
    !valid,
  )
}

function bodyFields({ contentType, body }: ServiceRequest): Fields | undefined {
  return contentType === 'application/json' ? readJsonFields(body) : undefined
}

function valuesOf(fields: Fields | undefined, name: string): readonly string[] {
  const value = fields?.get(name)
  return value === undefined ? [] : [value]
}

/** The passcode step that a transaction id and a session cookie stand for, or the error that says what is missing. */
function pendingOf(
  service: ServiceState,
  { cookies, instance }: ServiceRequest,
  transactionIds: readonly string[],
): AskedPasscode | { readonly error: ServiceResponse } {
  const [transactionId] = transactionIds
  if (transactionIds.length !== 1 || !transactionId) {
    return { error: mfaError(400, 'ERR_OBJECT_VALIDATION', 'One transaction_id is required') }
  }
  const session = service.sessions.find(cookies.get(sessionCookie), instance)
  if (!session?.pending || session.transactionId !== transactionId) {
    return { error: mfaError(401, 'UNAUTHORIZED', 'No sign-in of this session waits for a passcode') }
  }
  if (service.clock.now() - session.pending.since > passcodeSeconds) {
    return { error: mfaError(400, 'ERR_EXPIRED', 'The sign-in took too long. Sign in again.') }
  }
  return session.pending
}

const passcodeSeconds = 300

function mfaError(status: 400 | 401 | 403, code: string, message: string): ServiceResponse {
  return withReason(`${code}: ${message}`, jsonResponse(status, { error: { code, message } }))
}
