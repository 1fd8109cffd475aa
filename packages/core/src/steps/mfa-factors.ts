/**
 * Endpoint 4 of the interface document: GET …/authorize/mfa/factors, list the factors. The path prefix, the place of
 * `transaction_id` and the list's shape are the recorded ones.
 */
import { UnexpectedResponseError } from '@owner-sso/token-manager'
import { quotedNames } from '@owner-sso/token-manager/support'
import { authorizePath } from './authorization-request.ts'
import { PendingLoginExpiredError } from '../errors.ts'
import type { HttpSession } from '../http/http-session.ts'
import { asJsonObject, type JsonObject, parseJson } from '@owner-sso/token-manager/http'

/** A second factor of the account, as the service lists it. */
export interface Factor {
  readonly id: string
  /** What the owner called the device. */
  readonly name: string
  readonly factorType: string
  readonly factorProvider?: string | undefined
}

const step = 'mfa-factors'
const mostFactors = 50
const longestText = 256

/**
 * Lists the account's second factors: at least one. The list's shape is not shown by the document: it may stand bare, or as
 * `data` (recorded) or `factors`, and an entry may call its id `id` (recorded) or `factor_id`, as the verify call does.
 *
 * @throws PendingLoginExpiredError where the service has forgotten the transaction, UnexpectedResponseError, and what
 *   `HttpSession.send` throws
 */
export async function listFactors(session: HttpSession, authUrl: string, transactionId: string): Promise<Factor[]> {
  const url = new URL(`${authorizePath}/mfa/factors`, authUrl)
  url.searchParams.set('transaction_id', transactionId)
  const response = await session.send({ step, url })
  const { status } = response
  const parsed = parseJson(response.body)
  const body = asJsonObject(parsed)
  if (status === 401 || isExpired(mfaErrorCode(body))) throw new PendingLoginExpiredError({ step, status })
  const list = listIn(parsed)
  const factors = status === 200 ? (list ?? []).slice(0, mostFactors).flatMap(readFactor) : []
  if (factors.length === 0) {
    throw new UnexpectedResponseError(`status ${status} and ${whatIsMissing(body, list)}`, { step, status })
  }
  return factors
}

function listIn(value: unknown, depth = 2): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value
  const body = depth > 0 ? asJsonObject(value) : undefined
  return body && (listIn(body.get('data'), depth - 1) ?? listIn(body.get('factors'), depth - 1))
}

function namesIn(object: JsonObject | undefined): string {
  return quotedNames([...(object?.keys() ?? [])]) || 'none'
}

function whatIsMissing(body: JsonObject | undefined, list: readonly unknown[] | undefined): string {
  if (!list) return `no list of factors: neither a list nor “data” or “factors” with one (members: ${namesIn(body)})`
  if (list.length === 0) return 'an empty list of factors'
  return `a list of factors without “id” or “factor_id” (members of the first: ${namesIn(asJsonObject(list[0]))})`
}

function readFactor(entry: unknown): Factor[] {
  const member = (name: string): string | undefined => {
    const value = asJsonObject(entry)?.get(name)
    return typeof value === 'string' && value !== '' ? value.slice(0, longestText) : undefined
  }
  const id = member('id') ?? member('factor_id')
  if (id === undefined) return []
  const factorProvider = member('factorProvider')
  return [
    {
      id,
      name: member('name') ?? 'Unnamed device',
      factorType: member('factorType') ?? 'unknown',
      ...(factorProvider === undefined ? {} : { factorProvider }),
    },
  ]
}

/** Recorded codes that mean "not this login any more". */
const expiries: ReadonlySet<unknown> = new Set(['UNAUTHORIZED', 'ERR_EXPIRED'])

/** The `code` of the error body that both MFA endpoints answer with, `{ error: { code, message } }` (recorded). */
export function mfaErrorCode(body: JsonObject | undefined): unknown {
  return asJsonObject(body?.get('error'))?.get('code')
}

/** Whether the service has given the transaction up, so that only a new login helps. */
export function isExpired(code: unknown): boolean {
  return expiries.has(code)
}
