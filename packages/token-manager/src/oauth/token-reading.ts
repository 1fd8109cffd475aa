/**
 * Tokens out of whatever names them: the token endpoint's response, or what a library of the field made of one.
 */
import { jwtExpiry } from '../issuer/jwt-expiry.ts'
import { tokenSet, type TokenSet } from '../issuer/token-set.ts'

/** Seconds that an access token lives whose service does not say so in any way that can be read. */
const assumedLifetime = 3600
const aHundredYears = 100 * 366 * 86_400
/** The years 2001 and 5138: a smaller figure is no moment, and a larger one is in milliseconds. */
const [earliest, latest] = [1e9, 1e11]

export type Fields = ReadonlyMap<string, unknown>
/** The refresh token that stays where none is named. */
export type TokensBefore = Pick<TokenSet, 'refresh_token' | 'refresh_token_expires_at'>

/**
 * Whatever is odd about tokens is passed over: on a refresh they may be the only valid ones. `expires_in` of the endpoint counts from
 * now, and comes first; `saved` tokens may be old.
 */
export async function readTokens(
  fields: Fields,
  origin: 'endpoint' | 'saved',
  authUrl: string,
  before: TokensBefore,
): Promise<TokenSet | undefined> {
  const now = Date.now() / 1000
  const after = (value: unknown): number | undefined => {
    const seconds = Number(value)
    return seconds > 0 && seconds < aHundredYears ? now + seconds : undefined
  }
  const accessToken = first(fields, token, 'access_token', 'accessToken')
  if (accessToken === undefined) return undefined
  const idToken = first(fields, token, 'id_token', 'idToken')
  const refreshToken = refreshTokenIn(fields) ?? before.refresh_token
  const refreshEnd =
    first(fields, moment, 'refresh_token_expires_at') ??
    first(fields, after, 'refresh_token_expires_in', 'refreshTokenExpiresIn', 'refresh_expires_in') ??
    (refreshToken === before.refresh_token ? before.refresh_token_expires_at : undefined)
  const relative = first(fields, after, 'expires_in', 'expiresIn')
  const absolute = first(fields, moment, 'expires_at', 'expiresAt', 'expiry_date')
  const future = (end = 0): number | undefined => (end > now ? end : undefined)
  const told = origin === 'endpoint' ? (relative ?? future(absolute)) : (absolute ?? relative)
  const end = told ?? future(((await jwtExpiry())(accessToken) ?? 0) / 1000) ?? now + assumedLifetime
  return tokenSet({
    access_token: accessToken,
    refresh_token: refreshToken,
    ...(idToken !== undefined && { id_token: idToken }),
    token_type: 'Bearer',
    expires_at: Math.floor(end),
    ...(refreshEnd !== undefined && { refresh_token_expires_at: Math.floor(refreshEnd) }),
    auth_url: authUrl,
  })
}

export const refreshTokenIn = (fields: Fields): string | undefined =>
  first(fields, token, 'refresh_token', 'refreshToken')

function first<T>(fields: Fields, read: (value: unknown) => T | undefined, ...names: readonly string[]): T | undefined {
  return names.map((name) => read(fields.get(name))).find((value) => value !== undefined)
}

/** RFC 6749 appendices A.12 and A.17, without spaces. */
function token(value: unknown): string | undefined {
  return typeof value === 'string' && /^[\x21-\x7e]{1,65536}$/u.test(value) ? value : undefined
}

/** Seconds since the epoch, from those, from milliseconds, or from the text of a date. */
function moment(value: unknown): number | undefined {
  const figure = typeof value === 'string' && !/^[\d.]+$/u.test(value) ? Date.parse(value) : Number(value)
  const seconds = figure > latest ? figure / 1000 : figure
  return seconds > earliest && seconds < latest ? seconds : undefined
}
