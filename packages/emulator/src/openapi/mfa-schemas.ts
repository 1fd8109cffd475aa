/** What the endpoints of the second factor take and give. Field names are the wire's. */
import type { FactorListShape } from '../options/options.ts'
import { isLenient } from '../strictness.ts'
import type { Described, Part } from './part.ts'

const TEXT: Part = { type: 'string', minLength: 1 }
const UUID: Part = { type: 'string', format: 'uuid' }
const TIME: Part = { type: 'string', format: 'date-time' }
const COUNT: Part = { type: 'integer', minimum: 0 }
const YES: Part = { type: 'boolean' }

export function mfaSchemas({ settings }: Described): Part {
  const csrf = {
    ...TEXT,
    description: isLenient(settings)
      ? 'That of the passcode page, or that of the login page'
      : 'That of the passcode page, not that of the login page',
  }
  return {
    FactorList: factorList(settings.factorList),
    Verify: request(
      { transaction_id: TEXT, factor_id: TEXT, passcode: TEXT },
      isLenient(settings) ? { optional: { _csrf: csrf } } : { more: { _csrf: csrf } },
    ),
    Verification: exact({ data: verification }),
    BackupCode: request({ transaction_id: TEXT, backup_code: { ...TEXT, description: 'Nine characters' } }, {}),
    BackupCodeAttempt: exact({ data: attempt }),
    MfaError: exact({ error: exact({ code: { enum: CODES }, message: TEXT }) }),
  }
}

function factorList(shape: FactorListShape): Part {
  const list = { type: 'array', minItems: 1, items: factor }
  return shape === 'bare' ? list : exact({ [shape]: list })
}

const CODES = [
  'UNAUTHORIZED',
  'ERR_OBJECT_VALIDATION',
  'ERR_INVALID_FACTOR',
  'ERR_MAX_VERIFICATION_ATTEMPTS',
  'ERR_PASS_CODE_REPLAY',
  'ERR_EXPIRED',
]

const factor = exact({
  dispatchRequired: YES,
  id: { ...TEXT, description: 'The `factor_id` of a verification' },
  name: { ...TEXT, description: 'What the owner called the device' },
  factorType: { const: 'token:software' },
  factorProvider: TEXT,
  securityLevel: { type: 'integer' },
  activatedAt: TIME,
  updatedAt: TIME,
})

const verification = exact({
  id: UUID,
  challengeId: UUID,
  factorId: TEXT,
  passCode: TEXT,
  approved: { const: true, description: 'True even for a wrong passcode' },
  flagged: YES,
  valid: { type: 'boolean', description: 'Whether the passcode was right' },
  createdAt: TIME,
  updatedAt: TIME,
})

const attempt = exact({
  valid: YES,
  reason: { enum: [null, 'INVALID_CODE', 'LOCKED'] },
  message: { type: ['string', 'null'] },
  codesRemaining: COUNT,
  attemptsRemaining: COUNT,
  locked: YES,
})

/** An object of exactly these fields. */
function exact(properties: Part): Part {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
}

/** A body with these fields at least, each a string. */
function request(fields: Part, { more = {}, optional = {} }: { readonly more?: Part; readonly optional?: Part }): Part {
  const required = { ...fields, ...more }
  return {
    type: 'object',
    properties: { ...required, ...optional },
    required: Object.keys(required),
    additionalProperties: { type: 'string' },
  }
}
