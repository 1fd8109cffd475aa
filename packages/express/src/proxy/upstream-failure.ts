/**
 * Why a call of the owner API failed, as an answer.
 */
import type { Answer } from '../answers/problem.ts'
import { property } from '../property.ts'
import { ownerApiErrorAnswer, type OwnerApiErrorCode } from '../answers/owner-api-error.ts'

/** A failure that the proxy itself ends a call with. */
export class ProxyError extends Error {
  readonly code: OwnerApiErrorCode
  constructor(code: OwnerApiErrorCode) {
    super(code)
    this.name = 'ProxyError'
    this.code = code
  }
}

const timeouts = new Set<unknown>([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
])
/** undici's codes for a pool that `close()` has shut. */
const closed = new Set<unknown>(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED'])

/** 504 where the owner API was too slow, 502 for anything else. The answer holds nothing of the error. */
export function failureAnswer(error: unknown): Answer {
  if (error instanceof ProxyError) return ownerApiErrorAnswer(error.code)
  const code = property(error, 'code')
  if (timeouts.has(code)) return ownerApiErrorAnswer('ERR_OWNER_API_TIMEOUT')
  if (closed.has(code)) return ownerApiErrorAnswer('ERR_OWNER_API_CLOSING')
  return ownerApiErrorAnswer('ERR_OWNER_API_UNREACHABLE')
}
