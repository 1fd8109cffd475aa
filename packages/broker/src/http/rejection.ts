/**
 * What the broker itself answers with, in place of a token: one row for everything that it rejects.
 */
import type { IncomingMessage } from 'node:http'
import type { ProblemListener } from '@owner-sso/express'
import { type Answer, problemAnswer, reported, ssoErrorAnswer, warnOfFault } from '@owner-sso/express/support'
import { ClientsError } from '../clients/client.ts'

/** Every code with its status and its sentence: what is so, and what helps. */
export const rejections = {
  ERR_BROKER_MALFORMED_REQUEST: [400, 'The request can’t be understood.'],
  ERR_BROKER_NO_ACCOUNT: [400, 'Several accounts can be meant: name one in the header X-Owner-Account.'],
  ERR_BROKER_UNKNOWN_KEY: [
    401,
    'Send the key of a program as Authorization: Bearer KEY. owner-sso broker invite NAME makes one.',
  ],
  ERR_BROKER_NOBODY_SIGNED_IN: [401, 'Nobody is signed in here. Sign in with owner-sso login, or on the status page.'],
  ERR_BROKER_SCOPE: [403, 'This program was not invited for that. owner-sso broker list shows what it may have.'],
  ERR_BROKER_ACCOUNT_NOT_ALLOWED: [
    403,
    'This program may not use that account. owner-sso broker list shows which it may use.',
  ],
  ERR_BROKER_CROSS_SITE: [403, 'The broker is for programs: pages in a browser can’t call it.'],
  ERR_BROKER_NOT_FOUND: [404, 'There is nothing here. Programs call /token, /oauth2/v3/token or /healthz.'],
  ERR_BROKER_METHOD_NOT_ALLOWED: [405, 'This method is not available here.'],
  ERR_BROKER_SLOW_BODY: [408, 'The body did not arrive in time.'],
  ERR_BROKER_BODY_TOO_LARGE: [413, 'The body is too large.'],
  ERR_BROKER_HOST: [
    421,
    'The broker does not go by this name. Call localhost or its IP address, or start it with --public-url and the address with this name (in a program of your own, the option hosts).',
  ],
  ERR_BROKER_TOO_MANY_CALLS: [429, 'Too many calls. Try again later.'],
  ERR_BROKER_INTERNAL: [500, 'The call could not be answered.'],
  ERR_BROKER_UPGRADE_REJECTED: [501, 'Connections can’t be upgraded here.'],
  ERR_BROKER_CLIENTS: [503, 'The list of clients can’t be read for now. Try again in a moment.'],
} as const

/** Why the broker rejected. */
export type BrokerRejectionCode = keyof typeof rejections

/** To whoever has sent a key as it is to be sent. */
export const unknownKey =
  'No program has this key: it is mistyped, expired, revoked or replaced. See owner-sso broker list; owner-sso broker rotate NAME makes a new one.'

/** Of a path that only a broker with the option `proxy` answers. */
const notForwarded =
  'This broker forwards no calls of the owner API. Start it with --with-proxy (in a program of your own, the option proxy).'

export function notFound(path: string): Answer {
  return rejection('ERR_BROKER_NOT_FOUND', {}, path.startsWith('/api/') ? notForwarded : undefined)
}

/**
 * The answer of a code.
 *
 * @param detail - a more exact sentence
 */
export function rejection(
  code: BrokerRejectionCode,
  headers: Readonly<Record<string, string>> = {},
  detail: string = rejections[code][1],
): Answer {
  const [status] = rejections[code]
  return problemAnswer(status, code, detail, { ...headersFor(code), ...headers })
}

function headersFor(code: BrokerRejectionCode): Record<string, string> {
  switch (code) {
    case 'ERR_BROKER_UNKNOWN_KEY':
      return { 'www-authenticate': 'Bearer realm="owner-sso broker"' }
    // What is left of the body is not read.
    case 'ERR_BROKER_MALFORMED_REQUEST':
    case 'ERR_BROKER_SLOW_BODY':
    case 'ERR_BROKER_BODY_TOO_LARGE':
    case 'ERR_BROKER_UPGRADE_REJECTED':
      return { connection: 'close' }
    case 'ERR_BROKER_CLIENTS':
      return { 'retry-after': '5' }
    default:
      return {}
  }
}

/** Ends a call with the answer of a code. */
export class RejectedCall extends Error {
  readonly code: BrokerRejectionCode
  readonly headers: Readonly<Record<string, string>>

  /** @param detail - a more exact sentence than the code's */
  constructor(code: BrokerRejectionCode, headers: Readonly<Record<string, string>> = {}, detail?: string) {
    super(detail ?? rejections[code][1])
    this.name = 'RejectedCall'
    this.code = code
    this.headers = headers
  }
}

/**
 * The answer to what went wrong in a call.
 *
 * @param onProblem - is told of every error that is not the caller's own
 */
export function errorAnswer(error: unknown, request: IncomingMessage, onProblem: ProblemListener | undefined): Answer {
  if (error instanceof RejectedCall) return rejection(error.code, error.headers, error.message)
  const known = error instanceof ClientsError ? rejection('ERR_BROKER_CLIENTS') : ssoErrorAnswer(error)
  const answer = known ?? rejection('ERR_BROKER_INTERNAL')
  // With where it happened, for whoever reports it. The answer's own warning would say less.
  if (known === undefined) warnOfFault('the broker', error)
  return known === undefined && onProblem === undefined ? answer : reported(answer, error, request, onProblem)
}
