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

const timeouts = new Set<unknown>([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
])
/** What undici says of a pool that `close()` has shut. */
const closed = new Set<unknown>(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED'])

/** 504 where the owner API was too slow, 502 for anything else. Of the error nothing is told. */
export function failureAnswer(error: unknown): Answer {
  if (error instanceof ExchangeError) return refusal(error.code)
  const code = property(error, 'code')
  if (timeouts.has(code)) return refusal('ERR_OWNER_API_TIMEOUT')
  if (closed.has(code)) return refusal('ERR_OWNER_API_CLOSING')
  return refusal('ERR_OWNER_API_UNREACHABLE')
}
