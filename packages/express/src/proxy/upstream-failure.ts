/**
 * What an exchange with the owner API failed of, as an answer.
 */
import type { Answer } from '../answers/problem.ts'
import { property } from '../property.ts'
import { refusal, type RefusalCode } from '../answers/refusal.ts'

/** A failure that the proxy itself ends an exchange with. */
export class ExchangeError extends Error {
  readonly code: RefusalCode
  constructor(code: RefusalCode) {
    super(code)
    this.name = 'ExchangeError'
    this.code = code
  }
}

const timeouts = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'ETIMEDOUT'])
/** What undici says of a pool that `close()` has shut. */
const closed = new Set(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED'])

/** 504 where the owner API was too slow, 502 for anything else. Of the error only its code is told. */
export function failureAnswer(error: unknown): Answer {
  if (error instanceof ExchangeError) return refusal(error.code)
  const code = property(error, 'code')
  const systemCode = typeof code === 'string' && /^[A-Z\d_]{1,64}$/u.test(code) ? code : undefined
  if (systemCode !== undefined && timeouts.has(systemCode)) return refusal('ERR_OWNER_API_TIMEOUT')
  if (systemCode !== undefined && closed.has(systemCode)) return refusal('ERR_OWNER_API_CLOSING')
  return refusal('ERR_OWNER_API_UNREACHABLE', systemCode)
}
