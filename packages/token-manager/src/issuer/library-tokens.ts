/**
 * Tokens as OAuth libraries hand them out: each has names of its own for them, and another unit for when they end.
 */

type Named<Names extends string, Value> = { readonly [Name in Names]?: Value | null | undefined }

/** Of several names for one thing the first that says something counts. Lives are seconds; moments seconds, milliseconds or a date. */
export type LibraryTokens = Named<'access_token' | 'accessToken' | 'refresh_token' | 'refreshToken', string> &
  Named<'id_token' | 'idToken' | 'auth_url', string> &
  Named<'expires_at' | 'expiresAt' | 'expiry_date' | 'refresh_token_expires_at', number | string | Date> &
  Named<'expires_in', number | string> &
  Named<'expiresIn', number | string | (() => unknown)> & // openid-client's is a function, beside its expires_in
  Named<'refresh_token_expires_in' | 'refreshTokenExpiresIn' | 'refresh_expires_in', number | string>
