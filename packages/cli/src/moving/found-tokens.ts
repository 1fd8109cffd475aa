/**
 * One token set of another program, as it was found: its tokens, and what the set says of itself. Nothing of it is
 * believed yet; `candidate.ts` judges it.
 */
import { decodeJwt } from 'jose/jwt/decode'

export interface FoundTokens {
  readonly refreshToken: string
  readonly accessToken?: string
  /** Seconds since the epoch at which the access token ends, as far as it is known. */
  readonly accessEndsAt?: number
  /** The account that the input names: an e-mail or a subject; in an export of ours any name. */
  readonly account?: string
  /** The e-mail, or `sub:` and the subject, that its id_token or access token names. Unverified. */
  readonly owner?: string
  /** An address of the instance that issued it. */
  readonly authUrl?: string
  /** Seconds since the epoch at which it was issued. */
  readonly issuedAt?: number
  /** Seconds since the epoch at which the refresh token itself ends, where it says so (RFC 7519, `exp`). */
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
    textOf(value, names[fact]) ?? textOf(around, names[fact])
  const refreshToken = textOf(value, names.refreshToken)
  if (refreshToken === undefined) return undefined
  const claims = { ...claimsOf(text('accessToken')), ...claimsOf(text('idToken')) }
  const own = claimsOf(refreshToken)
  const account = text('account')
  const owner = ownerOf(claims)
  const authUrl = text('address') ?? stringOf(claims['iss']) ?? stringOf(own['iss'])
  const issued = issuedAt(value) ?? secondsOf(claims['iat']) ?? secondsOf(own['iat'])
  const endsAt = secondsOf(own['exp'])
  const accessToken = text('accessToken')
  const accessEndsAt = secondsOf(claimsOf(accessToken)['exp']) ?? endOf(value)
  return {
    refreshToken,
    ...(accessToken !== undefined && { accessToken }),
    ...(accessEndsAt !== undefined && { accessEndsAt }),
    ...(account !== undefined && isAccountName(account) && { account }),
    ...(owner !== undefined && { owner }),
    ...(authUrl !== undefined && { authUrl }),
    ...(issued !== undefined && { issuedAt: issued }),
    ...(endsAt !== undefined && { endsAt }),
  }
}

/** Whether it is an object with names in it, and no list. */
export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a name is one that accounts are kept under. */
export function isAccountName(name: string): boolean {
  return /^\s*(?:[^@\s]+@[^@\s]+|sub:\S+)\s*$/u.test(name)
}

function issuedAt(fields: Fields): number | undefined {
  const issued = firstOf(fields, names.issued, secondsOf)
  const ends = firstOf(fields, names.ends, secondsOf)
  const lives = lifetimeOf(fields)
  return issued ?? (ends !== undefined && lives > 0 ? ends - lives : undefined)
}

/** When the access token ends: stated, or so long after its issue. */
function endOf(fields: Fields): number | undefined {
  const issued = firstOf(fields, names.issued, secondsOf)
  const lives = lifetimeOf(fields)
  return firstOf(fields, names.ends, secondsOf) ?? (issued !== undefined && lives > 0 ? issued + lives : undefined)
}

const lifetimeOf = (fields: Fields): number => Number(fields['expires_in'] ?? fields['expiresIn'])

function ownerOf({ email, sub }: Fields): string | undefined {
  return stringOf(email) ?? (stringOf(sub) === undefined ? undefined : `sub:${String(sub)}`)
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

const textOf = (fields: Fields, of: readonly string[]): string | undefined => firstOf(fields, of, stringOf)

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
