/**
 * A login that waits for its passcode, as plain JSON-safe data that can be kept between two requests of a web application.
 *
 * It comes back from where callers kept it, so it is read like any other input: shape, age and instance are checked before
 * anything in it is used.
 */
import { redacted, secretiveKind, whatCame, wholeOf } from '@owner-sso/token-manager/support'
import { PendingLoginExpiredError } from '../errors.ts'
import type { LoginSecrets } from '../steps/authorization-request.ts'
import type { Credentials } from '../steps/form-submission.ts'
import type { LoginPage } from '../steps/login-page.ts'
import type { Factor } from '../steps/mfa-factors.ts'
import type { Verification } from '../pages/passcode-page.ts'
import { allowedInstance } from '../service/region.ts'
import type { SsoContext } from './sso-context.ts'
import type { PendingLogin } from './sso.ts'

/** Seconds that a person has for the passcode. */
const lifetime = 5 * 60

/** What the rest of a login sends. */
export interface PendingLoginData {
  readonly credentials: Credentials
  readonly secrets: LoginSecrets
  readonly page: LoginPage
  readonly verification: Verification
}

/** The same with all that has to be kept beside it until the person has answered. */
export interface KeptLogin extends PendingLoginData {
  readonly factors: readonly Factor[]
  /** The session's cookies as `Set-Cookie` values, all of the instance that served the page. */
  readonly cookies: readonly string[]
}

const kind = secretiveKind('PendingLogin', ['kind', 'issued_at', 'expires_at'])

export function pendingLogin(login: KeptLogin, now: number): PendingLogin {
  const issued = Math.floor(now)
  const data = {
    kind: 'owner-sso/pending-login' as const,
    ...login,
    issued_at: issued,
    expires_at: issued + lifetime,
  }
  return redacted(data, kind)
}

/**
 * Reads a pending login that a caller kept.
 *
 * @throws TypeError for something that is not a pending login; PendingLoginExpiredError for one that is too old, was completed already, or has lost
 *   or changed its shape; RegionNotAllowedError for one that names a foreign host
 */
export async function resumeLogin(pending: PendingLogin, service: SsoContext): Promise<KeptLogin> {
  if (typeof pending !== 'object' || pending === null || pending.kind !== 'owner-sso/pending-login') {
    const isOutcome = typeof pending === 'object' && pending !== null && 'pending' in pending
    throw new TypeError(
      `pending must be the pending of what beginLogin returned${isOutcome ? '; all of that came: write outcome.pending' : whatCame(pending)}`,
    )
  }
  const expired = new PendingLoginExpiredError({ requestSent: false })
  const login: unknown = pending
  if (!isIntact(login)) throw expired
  const now = service.now()
  const age = now - login.issued_at
  // A clock that was set back a little is no reason to type the password again.
  if (age < -lifetime || age > lifetime || login.expires_at !== login.issued_at + lifetime) throw expired
  if (service.completedLogins.has(login.secrets.state)) throw expired
  const authUrl = await allowedInstance(login.page.authUrl, service, 'mfa-verify')
  const { credentials, secrets, page, verification, factors, cookies } = login
  return { credentials, secrets, page: { ...page, authUrl }, verification, factors, cookies }
}

/** Whether data has the exact shape that {@link pendingLogin} gave it, all sizes within reason. */
function isIntact(data: unknown): data is KeptLogin & { readonly issued_at: number; readonly expires_at: number } {
  return matches(data, {
    credentials: { identity: isText, credential: isText },
    secrets: { state: isText, codeVerifier: isText },
    page: { authUrl: isText, hiddenInputs: isListOf(isPair) },
    verification: { transactionId: isText, csrf: isText },
    factors: isListOf((factor) => matches(factor, { id: isText, name: isText, factorType: isText })),
    cookies: isListOf(isText),
    issued_at: Number.isSafeInteger,
    expires_at: Number.isSafeInteger,
  })
}

type Check = (value: unknown) => boolean
interface Shape {
  readonly [name: string]: Check | Shape
}

function matches(data: unknown, shape: Shape): boolean {
  if (typeof data !== 'object' || data === null) return false
  const own = new Map<string, unknown>(Object.entries(wholeOf(data)))
  return Object.entries(shape).every(([name, expected]) =>
    typeof expected === 'function' ? expected(own.get(name)) : matches(own.get(name), expected),
  )
}

const isText: Check = (value) => typeof value === 'string' && value.length <= 64 * 1024
const isPair: Check = (value) => Array.isArray(value) && value.length === 2 && value.every(isText)
const isListOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.length <= 1000 && value.every(check)
