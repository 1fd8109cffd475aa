/**
 * The proxy's own answers: one row for each reason why a caller does not get the owner API's answer.
 */
import { property } from '../property.ts'
import { type Answer, problemAnswer } from './problem.ts'

/** The status and the sentence of each code. */
export const ownerApiErrors = {
  ERR_OWNER_API_MALFORMED_REQUEST: [400, 'The request is ambiguous, so it was not forwarded.'],
  ERR_OWNER_API_MALFORMED_PATH: [
    400,
    'The path contains a dot segment, an empty segment, a parameter or an encoded separator, or is not a path.',
  ],
  ERR_OWNER_API_FORBIDDEN: [403, 'You may not make this call.'],
  ERR_OWNER_API_CROSS_SITE: [403, 'The call comes from a page of another site.'],
  ERR_OWNER_API_PATH_NOT_ALLOWED: [404, 'This path of the owner API is not available here.'],
  ERR_OWNER_API_METHOD_NOT_ALLOWED: [405, 'This method is not available here.'],
  ERR_OWNER_API_BODY_CONSUMED: [500, 'Another handler has already consumed the body: put the proxy before it.'],
  ERR_OWNER_API_INTERNAL: [500, 'The call could not be forwarded.'],
  ERR_OWNER_API_UPGRADE_REJECTED: [501, 'Connections can’t be upgraded here.'],
  ERR_OWNER_API_TOKEN_ECHOED: [502, 'The owner API’s answer contained the access token and was held back.'],
  ERR_OWNER_API_TOKEN_REFUSED: [
    502,
    'The owner API refuses a token that was just issued. A new sign-in does not help.',
  ],
  ERR_OWNER_API_UNREACHABLE: [502, 'The owner API can’t be reached, or its answer broke off.'],
  ERR_OWNER_API_BUSY: [503, 'Too many calls are under way. Try again in a moment.'],
  ERR_OWNER_API_CLOSING: [503, 'This instance is shutting down. Try again.'],
  ERR_OWNER_API_TIMEOUT: [504, 'No answer came in time.'],
} as const

/** Why a caller does not get the owner API's answer. */
export type OwnerApiErrorCode = keyof typeof ownerApiErrors

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The methods that are forwarded. Not OPTIONS: the owner API's CORS rules are not the application's. Never TRACE or CONNECT. */
export const forwardedMethods: ReadonlySet<string> = new Set(methods)

/** The answer of a code, in its own words or in those that say more. */
export function ownerApiErrorAnswer(code: OwnerApiErrorCode, more?: string): Answer {
  const [status, sentence] = ownerApiErrors[code]
  return problemAnswer(status, code, more ?? sentence, headersFor(status, code))
}

function headersFor(status: number, code: OwnerApiErrorCode): Record<string, string> {
  // Node ends the connection once this is written; what is left of the body is read as nothing.
  if (code === 'ERR_OWNER_API_MALFORMED_REQUEST' || status === 501) return { connection: 'close' }
  if (status === 405) return { allow: methods.join(', ') }
  return status === 503 ? { 'retry-after': '1' } : {}
}

/** What we end a call with ourselves. */
export class OwnerCallError extends Error {
  readonly code: OwnerApiErrorCode

  /** @param message - for a log, where it says more than the code */
  constructor(code: OwnerApiErrorCode, message: string = code) {
    super(message)
    this.name = 'OwnerCallError'
    this.code = code
  }
}

/** The answer to an error of ours; `undefined` for any other. */
export function callErrorAnswer(error: unknown): Answer | undefined {
  return error instanceof OwnerCallError ? ownerApiErrorAnswer(error.code) : undefined
}

/** What undici fails with: where the owner API was too slow, and where its pool was closed. */
const undiciCodes: Readonly<Record<string, OwnerApiErrorCode>> = {
  UND_ERR_CONNECT_TIMEOUT: 'ERR_OWNER_API_TIMEOUT',
  UND_ERR_HEADERS_TIMEOUT: 'ERR_OWNER_API_TIMEOUT',
  UND_ERR_BODY_TIMEOUT: 'ERR_OWNER_API_TIMEOUT',
  ETIMEDOUT: 'ERR_OWNER_API_TIMEOUT',
  UND_ERR_CLOSED: 'ERR_OWNER_API_CLOSING',
  UND_ERR_DESTROYED: 'ERR_OWNER_API_CLOSING',
}

/** The answer where a request to the owner API has failed. It holds nothing of the error. */
export function failureAnswer(error: unknown): Answer {
  const code = undiciCodes[String(property(error, 'code'))] ?? 'ERR_OWNER_API_UNREACHABLE'
  return callErrorAnswer(error) ?? ownerApiErrorAnswer(code)
}
