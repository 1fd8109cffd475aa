/** The error body that both MFA endpoints answer with, `{ error: { code, message } }` (recorded). */
import { asJsonObject, type JsonObject } from '@owner-sso/token-manager/http'

/** Recorded codes that mean "not this login any more". */
const expiries: ReadonlySet<unknown> = new Set(['UNAUTHORIZED', 'ERR_EXPIRED'])

/** The `code` of an error body; undefined if it has none. */
export function mfaErrorCode(body: JsonObject | undefined): unknown {
  return asJsonObject(body?.get('error'))?.get('code')
}

/** Whether the service has given the transaction up, so that only a new login helps. */
export function isExpired(code: unknown): boolean {
  return expiries.has(code)
}
