/**
 * The token set: what the token endpoint answers, plus when it ends and who issued it.
 */
import { redacted, secretiveKind, storable } from '../support/redaction.ts'

/**
 * Tokens of one account. **Hand it on as it is**: `{ ...tokens }`, `Object.assign` and `structuredClone` make a copy without its
 * tokens. A whole copy is `JSON.parse(JSON.stringify(tokens))`.
 *
 * Wire names are kept (interface document, "Token response"); `expires_at` and `auth_url` are ours.
 *
 * The tokens of a set that core made can be read by name, but not enumerated: `console.log`, `console.dir`, `console.table`
 * and a failed assertion show none. `JSON.stringify` writes them all (`toJSON`), since they have to be stored, and with it
 * `%j`; a spread copy, `structuredClone` and a deep comparison go without them. Any plain object of this shape, such as one
 * read back from JSON, is a token set as well, and prints in full.
 */
export interface TokenSet {
  /** Bearer token for the owner API (RFC 6750). */
  readonly access_token: string
  /** For the next refresh. */
  readonly refresh_token: string
  /** On a refresh. Not verified here: never take an identity from it unverified. */
  readonly id_token?: string
  /** Always `Bearer`. */
  readonly token_type: string
  /** As the service sent it; its unit is not stated by the document. Use `expires_at`. */
  readonly expires_in?: number
  /** Present on a code exchange. */
  readonly state?: string
  /** Seconds since the epoch at which the access token ends. */
  readonly expires_at: number
  /** Seconds since the epoch at which the refresh token ends, where the service says so. */
  readonly refresh_token_expires_at?: number
  /** Base address of the instance that issued it: a regional account refreshes at its region. */
  readonly auth_url: string
  /** All of it as plain data, on token sets that core made: for storage alone. */
  toJSON?(): TokenSet
}

/** Seconds that an access token lives where nothing better is known (interface document, "Authentication" 6: eight hours). */
export const documentedLifetime: number = 8 * 60 * 60

const kind = secretiveKind('TokenSet', [
  'token_type',
  'expires_in',
  'expires_at',
  'refresh_token_expires_at',
  'auth_url',
])

/**
 * A token set that can be stored but shows none of its tokens. Also for one that was read back from JSON, where they are
 * plain to see.
 */
export function tokenSet(tokens: TokenSet): TokenSet {
  return redacted(tokens, kind)
}

/** Whether this is what a spread leaves of a token set that core made. */
export function lostItsTokens(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('expires_at' in value)) return false
  return !('access_token' in value) && !('refresh_token' in value)
}

/** How that comes about. */
export const howTokensAreLost =
  'a copy of a token set that lost its tokens: a spread ({ ...tokens }), Object.assign and structuredClone go without them'

/** A token set as a store gets it: plain data, which still prints without its tokens. */
export function storableTokenSet(tokens: TokenSet): TokenSet {
  return storable(tokens, kind)
}

/** As a token set whose access token is empty, and has ended. */
export function bareTokenSet({ refresh_token, auth_url }: Pick<TokenSet, 'refresh_token' | 'auth_url'>): TokenSet {
  return tokenSet({ access_token: '', refresh_token, token_type: 'Bearer', expires_at: 0, auth_url })
}

/** Whether these tokens wait for their first refresh, which shows whose they are. */
export function isBare({ access_token }: TokenSet): boolean {
  return access_token === ''
}

/** The year 5138: what is later was meant in milliseconds. */
const latest = 100_000_000_000

export function isEpochSeconds(value: unknown): value is number {
  return Number.isFinite(value) && Number(value) < latest
}
