/**
 * One token set of another program, as it was found: its tokens, and what the set says of itself. Nothing of it is
 * believed yet; `candidate.ts` judges it.
 */
import { decodeJwt } from 'jose/jwt/decode'

/** Times are seconds since the epoch. */
export interface FoundTokens {
  readonly refreshToken: string
  readonly accessToken?: string
  readonly accessEndsAt?: number
  /** The account that the input names: an e-mail or a subject; in an export of ours any name. */
  readonly account?: string
  /** The e-mail, or `sub:` and the subject, that its id_token or access token names. Unverified. */
  readonly owner?: string
  readonly authUrl?: string
  readonly issuedAt?: number
  /** When the refresh token itself ends, where it says so (RFC 7519, `exp`). */
  readonly endsAt?: number
  /** What happened to the account before, in an export of ours. */
  readonly history?: string
}

type Fields = Readonly<Record<string, unknown>>

/** Names that clients have given to each fact, the usual one first. */
const names = {
  refreshToken: ['refresh_token', 'refreshToken'],
  accessToken: ['access_token', 'accessToken', 'authToken'],
  idToken: ['id_token', 'idToken'],
  account: ['account', 'email', 'identity', 'username'],
  address: ['auth_url', 'authUrl', 'url', 'sso_url', 'issuer'],
  issued: ['obtained_at', 'created_at', 'createdAt'],
  ends: ['expires_at', 'expiresAt'],
} as const

/**
 * The token set in an object; `undefined` where it has no refresh token.
 *
 * @param around - the object that it stands in, which may name the account and the address
 */
export function tokensIn(value: unknown, around: Fields = {}): FoundTokens | undefined {
  if (!isFields(value)) return undefined
  const text = (fact: keyof typeof names): string | undefined =>
    firstOf(value, names[fact], stringOf) ?? firstOf(around, names[fact], stringOf)
  const refreshToken = firstOf(value, names.refreshToken, stringOf)
  if (refreshToken === undefined) return undefined
  const [accessToken, account] = [text('accessToken'), text('account')]
  const ofAccess = claimsOf(accessToken)
  const { email, sub, iss, iat } = { ...ofAccess, ...claimsOf(text('idToken')) }
  const own = claimsOf(refreshToken)
  // The access token's end and issue: stated, or so long before or after one another.
  const lives = Number(value['expires_in'] ?? value['expiresIn'])
  const life = lives > 0 ? lives : NaN
  const [issued, ends] = [firstOf(value, names.issued, secondsOf), firstOf(value, names.ends, secondsOf)]
  const facts = {
    accessToken,
    accessEndsAt: secondsOf(ofAccess['exp']) ?? ends ?? secondsOf((issued ?? NaN) + life),
    account: account !== undefined && isAccountName(account) ? account : undefined,
    owner: stringOf(email) ?? (stringOf(sub) === undefined ? undefined : `sub:${String(sub)}`),
    authUrl: text('address') ?? stringOf(iss) ?? stringOf(own['iss']),
    issuedAt: issued ?? secondsOf((ends ?? NaN) - life) ?? secondsOf(iat) ?? secondsOf(own['iat']),
    endsAt: secondsOf(own['exp']),
  }
  return { refreshToken, ...Object.fromEntries(Object.entries(facts).filter(([, fact]) => fact !== undefined)) }
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isAccountName(name: string): boolean {
  return /^\s*(?:[^@\s]+@[^@\s]+|sub:\S+)\s*$/u.test(name)
}

/** Of a JWT; none of anything else. */
function claimsOf(token: string | undefined): Fields {
  try {
    return token === undefined ? {} : decodeJwt(token)
  } catch {
    return {}
  }
}

/** A time in seconds or, with thirteen digits, in milliseconds. */
function secondsOf(value: unknown): number | undefined {
  const time = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof time !== 'number' || !(time > 1e9) || time > 1e14) return undefined
  return Math.floor(time > 1e11 ? time / 1000 : time)
}

const stringOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

function firstOf<Value>(
  fields: Fields,
  of: readonly string[],
  read: (value: unknown) => Value | undefined,
): Value | undefined {
  for (const name of of) {
    const value = Object.hasOwn(fields, name) ? read(fields[name]) : undefined
    if (value !== undefined) return value
  }
  return undefined
}
