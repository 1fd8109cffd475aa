/**
 * The token set: what the token endpoint answers, plus when it ends and who issued it.
 */
import { printingRule, redacted } from './redaction.ts'

/**
 * Tokens of one account. Wire names are kept (interface document, "Token response"); `expires_at` and `auth_url` are ours.
 *
 * Plain data: it survives `JSON.stringify` and has to be stored. `util.inspect` (and so `console.log`) shows none of its tokens,
 * nor of a spread copy's.
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
  /** Base address of the instance that issued it: a regional account refreshes at its region. */
  readonly auth_url: string
}

const printed = printingRule('TokenSet', ['token_type', 'expires_in', 'expires_at', 'auth_url'])

/**
 * A token set that can be stored but prints without its tokens. Also for one that was read back from JSON, whose printing
 * rule was lost on the way.
 */
export function tokenSet(tokens: TokenSet): TokenSet {
  return redacted(tokens, printed)
}
