/**
 * A fault: plain data that says how a response is corrupted, delayed or replaced, and where.
 */
import { checkEach, isRecord, oneOf, seconds, whole, type Checks } from '../options/checks.ts'

export const endpoints = [
  'login-page',
  'form-submission',
  'captcha',
  'token',
  'refresh',
  'mfa-factors',
  'mfa-verify',
  'mfa-backup-code',
  'owner-api',
] as const

/** A place of the service where a fault can strike. */
export type Endpoint = (typeof endpoints)[number]

/** Several fields combine, as far as that makes sense. */
export interface Fault {
  /** Milliseconds that the answer waits. */
  readonly delay?: number
  /** The answer waits for this promise, whatever it comes to. */
  readonly hold?: Promise<unknown>
  /**
   * Whether `delay`, `hold` and an answer in place strike `before` the service does anything (default) or `after` it
   * did: a refresh token is spent then.
   */
  readonly commit?: 'before' | 'after'
  /** The connection is cut: before the service does anything, after that, or at this point of the answer. */
  readonly drop?: 'before-commit' | 'after-commit' | 'mid-body' | 'after-body'
  /** Answers this in place: status (default 200), headers, and a body, which is sent as JSON unless it is a string. */
  readonly status?: number
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: unknown
  /** Answers the challenge page (or the one that only runs a script) with `status`, default 403. */
  readonly firewall?: boolean | 'script'
  /** The body is cut to so many bytes, or filled up to them with spaces; its length agrees. */
  readonly bodyLength?: number
}

const maxBodyLength = 1024 ** 3

const faultChecks: Checks<Fault> = {
  delay: seconds('a number of milliseconds'),
  hold: {
    expected: 'a promise',
    accepts: (value): value is Promise<unknown> => isRecord(value) && typeof value['catch'] === 'function',
  },
  commit: oneOf('before', 'after'),
  drop: oneOf('before-commit', 'after-commit', 'mid-body', 'after-body'),
  status: whole(200, 599),
  headers: {
    expected: 'an object of strings, or of arrays of strings',
    accepts: (value): value is NonNullable<Fault['headers']> =>
      isRecord(value) && Object.values(value).every((line) => [line].flat().every((item) => typeof item === 'string')),
  },
  body: { expected: 'anything', accepts: (_value): _value is unknown => true },
  firewall: oneOf(true, false, 'script'),
  bodyLength: whole(0, maxBodyLength),
}

export function checkFault(fault: unknown): void {
  if (typeof fault !== 'function') checkEach('field', '', fault, faultChecks)
}

export function checkEndpoint(endpoint: string): asserts endpoint is Endpoint {
  if (endpoints.some((known) => known === endpoint)) return
  throw new TypeError(`Unknown endpoint ${endpoint}: one of ${endpoints.join(', ')}`)
}
