/**
 * Endpoint 4 of the interface document: GET …/authorize/mfa/factors, list the factors. The path prefix, the place of
 * `transaction_id` and the list's shape are the recorded ones.
 */
import { authorizePath } from './authorization-request.ts'
import { PendingLoginExpiredError, UnexpectedResponseError } from '../errors.ts'
import type { HttpSession } from '../http/http-session.ts'
import { asJsonObject, parseJsonObject } from '../http/json-object.ts'
import type { Factor } from '../sso.ts'
import { isExpired, mfaErrorCode } from './mfa-error.ts'

const step = 'mfa-factors'
const mostFactors = 50
const longestText = 256

/**
 * Lists the account's second factors: at least one.
 *
 * @throws PendingLoginExpiredError where the service has forgotten the transaction, UnexpectedResponseError, and what
 *   `HttpSession.send` throws
 */
export async function listFactors(session: HttpSession, authUrl: string, transactionId: string): Promise<Factor[]> {
  const url = new URL(`${authorizePath}/mfa/factors`, authUrl)
  url.searchParams.set('transaction_id', transactionId)
  const answer = await session.send({ step, url })
  const { status } = answer
  const body = parseJsonObject(answer.body)
  if (status === 401 || isExpired(mfaErrorCode(body))) throw new PendingLoginExpiredError({ step, status })
  const list = body?.get('data')
  const factors = status === 200 && Array.isArray(list) ? list.slice(0, mostFactors).flatMap(readFactor) : []
  if (factors.length === 0) throw new UnexpectedResponseError(`status ${status} without a factor`, { step, status })
  return factors
}

/** An entry of the list; nothing for one without an id. */
function readFactor(entry: unknown): Factor[] {
  const member = (name: string): string | undefined => {
    const value = asJsonObject(entry)?.get(name)
    return typeof value === 'string' && value !== '' ? value.slice(0, longestText) : undefined
  }
  const id = member('id')
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
