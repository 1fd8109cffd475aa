/**
 * A fault: plain data that says how a response is corrupted, delayed or replaced, and where.
 */

/** Where a fault can strike. */
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
