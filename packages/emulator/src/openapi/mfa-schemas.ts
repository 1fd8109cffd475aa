/**
 * What the endpoints of the second factor take and give. Field names are the wire's.
 */
import type { Settings } from '../options/options.ts'
import { isLenient } from '../service/strictness.ts'
import type { Described, Part } from './part.ts'

const text: Part = { type: 'string', minLength: 1 }
const uuid: Part = { type: 'string', format: 'uuid' }
const time: Part = { type: 'string', format: 'date-time' }
const count: Part = { type: 'integer', minimum: 0 }
const yes: Part = { type: 'boolean' }

export function mfaSchemas({ settings }: Described): Part {
  const csrf = {
    ...text,
    description: isLenient(settings)
      ? 'That of the passcode page, or that of the login page'
      : 'That of the passcode page, not that of the login page',
  }
  return {
    FactorList: factorList(settings.factorList),
    Verify: request(
      { transaction_id: text, factor_id: text, passcode: text },
      isLenient(settings) ? { optional: { _csrf: csrf } } : { more: { _csrf: csrf } },
    ),
    Verification: exact({ data: verification }),
    BackupCode: request({ transaction_id: text, backup_code: { ...text, description: 'Nine characters' } }, {}),
    BackupCodeAttempt: exact({ data: attempt }),
    MfaError: exact({ error: exact({ code: { enum: codes }, message: text }) }),
  }
}

function factorList(shape: Settings['factorList']): Part {
  const list = { type: 'array', minItems: 1, items: factor }
  return shape === 'bare' ? list : exact({ [shape]: list })
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

/** An object of exactly these fields. */
function exact(properties: Part): Part {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** A body with these fields at least. */
function request(fields: Part, { more = {}, optional = {} }: { readonly more?: Part; readonly optional?: Part }): Part {
  const required = { ...fields, ...more }
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
  }
}
