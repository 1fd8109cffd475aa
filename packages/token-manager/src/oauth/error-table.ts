/**
 * What a response of the token endpoint without usable tokens means, be it OAuth (RFC 6749 section 5.2) or not.
 *
 * | response                                | refresh                                                      | code exchange           |
 * | --------------------------------------- | ------------------------------------------------------------ | ----------------------- |
 * | `invalid_grant` and its like, below 500 | ReauthenticationRequiredError: the refresh token is dead     | TokenRejectedError      |
 * | `invalid_client` and its like           | ClientRejectedError: nothing is spent, all accounts rest     | ClientRejectedError     |
 * | `invalid_request` and its like          | TokenRejectedError: not spent                                | TokenRejectedError      |
 * | 400 or 401 without a word               | as `invalid_request`: the fifth in a row is the end          | TokenRejectedError      |
 * | 429; a page of HTML with 403            | FirewallChallengeError: all accounts rest                    | FirewallChallengeError  |
 * | 5xx, all else                           | UnexpectedResponseError: in doubt                            | UnexpectedResponseError |
 */
import {
  ClientRejectedError,
  FirewallChallengeError,
  ReauthenticationRequiredError,
  type SsoError,
  TokenRejectedError,
  UnexpectedResponseError,
} from '../errors.ts'
import { parseJsonObject } from '../http/json-object.ts'
import { retryAfterSeconds } from '../http/retry-after.ts'
import type { HttpAnswer } from '../http/round-trip.ts'
import { quotedWords } from '../support/quotation.ts'
import type { Fields } from './token-reading.ts'

/** The words of the RFCs and of OpenID Connect, and then those that services have in their place. */
const dead = `invalid_grant login_required interaction_required consent_required
  invalid_token invalid_refresh_token bad_refresh_token expired_token token_expired token_revoked`.split(/\s+/u)
const client = 'invalid_client invalid_client_id bad_client_secret incorrect_client_credentials'.split(' ')
const mistake = 'invalid_request invalid_scope invalid_target unauthorized_client unsupported_grant_type'.split(' ')

/** Seconds until a client that was rejected is tried again, at first; and a host that does not say for how long to leave it alone. */
const [clientRest, hostRest] = [60, 900]

/** The members of a response: JSON, a form, or a single word, whatever it calls itself. */
export function membersOf({ body }: HttpAnswer): Fields {
  const text = body.trim()
  const form = /^\w+=[^\s<]*$/u.test(text) ? new URLSearchParams(text) : []
  const word: [string, string][] = [...dead, ...client, ...mistake].includes(text) ? [['error', text]] : []
  return parseJsonObject(text) ?? new Map([...form, ...word])
}

/** @param secrets - what was sent, so that the response may repeat it */
export function tokenEndpointError(
  answer: HttpAnswer,
  step: 'code-exchange' | 'refresh',
  secrets: readonly string[],
): SsoError {
  const { status, header, body } = answer
  const where = { step, status }
  const now = Date.now() / 1000
  if (status === 429 || (status === 403 && body.trimStart().startsWith('<'))) {
    const rest = retryAfterSeconds(header('retry-after'), now) ?? hostRest
    return new FirewallChallengeError(Math.ceil(now + rest), where)
  }
  const members = membersOf(answer)
  const textOf = (name: string): string | undefined => [members.get(name)].find((value) => typeof value === 'string')
  const word = textOf('error') ?? (status === 400 || status === 401 ? 'invalid_request' : '')
  const description = quotedWords(textOf('error_description') ?? '', secrets)
  if (status < 500) {
    if (client.includes(word)) return new ClientRejectedError(Math.ceil(now + clientRest), where)
    if (dead.includes(word) && step === 'refresh')
      return new ReauthenticationRequiredError('refresh_token_rejected', where, description)
    if (dead.includes(word) || mistake.includes(word)) return new TokenRejectedError(word, where, description)
  }
  const whereToLook = status === 404 ? ': look at tokenUrl' : ''
  return new UnexpectedResponseError(`status ${status} without usable tokens${whereToLook}`, where)
}
