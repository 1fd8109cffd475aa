/**
 * Endpoints 4 and 5 of the description, and the backup codes: what they take and give. Field names are the wire's.
 */
import { isLenient } from '../service/strictness.ts'
import {
  challenge,
  content,
  exact,
  fields,
  ref,
  response,
  text,
  unreadable,
  type Described,
  type Part,
} from './parts.ts'

const prefix = '/oauth2/v3/authorize/mfa'
const json = (schema: string): Part => content('application/json', schema)

/** What the three of them have in common; the document gives their paths without a prefix. */
function operation(operationId: string, summary: string, more: string, responses: Part): Part {
  return {
    operationId,
    summary,
    description: more,
    tags: ['second factor'],
    parameters: [ref('parameters', 'session')],
    responses: {
      ...responses,
      '400': response('The request is wrong, or the sign-in took too long', json('MfaError')),
      '401': response('No sign-in of this session waits for a passcode', json('MfaError')),
    },
  }
}

const factors: Part = {
  ...operation('listFactors', 'List the second factors of the account', answersAt('factors'), {
    '200': response('The factors', json('FactorList')),
    '403': challenge,
  }),
  parameters: [ref('parameters', 'session'), ref('parameters', 'transaction_id')],
}

const verify: Part = {
  ...operation(
    'verifyPasscode',
    'Verify a passcode',
    `${answersAt('verify')} After it the login form is posted again.`,
    {
      '200': response('The verdict: `valid` decides', json('Verification')),
      '403': response(
        'The `_csrf` is missing or wrong, or the firewall blocks this client',
        json('MfaError'),
        content('text/html', 'ChallengePage'),
      ),
      ...unreadable,
    },
  ),
  requestBody: { required: true, content: json('Verify') },
}

const backupCode: Part = {
  ...operation(
    'attemptBackupCode',
    'Verify a backup code in place of a passcode',
    `Not in the interface document, as recorded. ${answersAt('backupcodes/attempt')}`,
    {
      '200': response('The verdict: `valid` decides', json('BackupCodeAttempt')),
      '403': challenge,
      ...unreadable,
    },
  ),
  requestBody: { required: true, content: json('BackupCode') },
}

function answersAt(path: string): string {
  return `Answers at \`/authorize/mfa/${path}\` as well.`
}

export const mfaPaths: Part = {
  [`${prefix}/factors`]: { get: factors },
  [`${prefix}/verify`]: { post: verify },
  [`${prefix}/backupcodes/attempt`]: { post: backupCode },
}

const uuid: Part = { type: 'string', format: 'uuid' }
const time: Part = { type: 'string', format: 'date-time' }
const count: Part = { type: 'integer', minimum: 0 }
const yes: Part = { type: 'boolean' }

export function mfaSchemas({ settings }: Described): Part {
  const lenient = isLenient(settings)
  const csrf = lenient
    ? 'That of the passcode page, or that of the login page'
    : 'That of the passcode page, not that of the login page'
  const list = { type: 'array', minItems: 1, items: factor }
  return {
    FactorList: settings.factorList === 'bare' ? list : exact({ [settings.factorList]: list }),
    Verify: fields(
      { transaction_id: text, factor_id: text, passcode: text, _csrf: { ...text, description: csrf } },
      lenient ? ['_csrf'] : [],
    ),
    Verification: exact({ data: verification }),
    BackupCode: fields({ transaction_id: text, backup_code: { ...text, description: 'Nine characters' } }),
    BackupCodeAttempt: exact({ data: attempt }),
    MfaError: exact({ error: exact({ code: { enum: codes }, message: text }) }),
  }
}

const codes = [
  'UNAUTHORIZED',
  'ERR_OBJECT_VALIDATION',
  'ERR_INVALID_FACTOR',
  'ERR_MAX_VERIFICATION_ATTEMPTS',
  'ERR_PASS_CODE_REPLAY',
  'ERR_EXPIRED',
]

const factor = exact({
  dispatchRequired: yes,
  id: { ...text, description: 'The `factor_id` of a verification' },
  name: { ...text, description: 'What the owner called the device' },
  factorType: { const: 'token:software' },
  factorProvider: text,
  securityLevel: { type: 'integer' },
  activatedAt: time,
  updatedAt: time,
})

const verification = exact({
  id: uuid,
  challengeId: uuid,
  factorId: text,
  passCode: text,
  approved: { const: true, description: 'True even for a wrong passcode' },
  flagged: yes,
  valid: { type: 'boolean', description: 'Whether the passcode was right' },
  createdAt: time,
  updatedAt: time,
})

const attempt = exact({
  valid: yes,
  reason: { enum: [null, 'INVALID_CODE', 'LOCKED'] },
  message: { type: ['string', 'null'] },
  codesRemaining: count,
  attemptsRemaining: count,
  locked: yes,
})
