/** Reads the claim `exp` of a JWT: milliseconds since the epoch; nothing for any other token. */
export type ExpiryOf = (token: string) => number | undefined

/** Three parts (RFC 7515, 7.1). */
const isJws = /^[\w-]+\.[\w-]+\.[^.]*$/u

let loaded: ExpiryOf | undefined

/** Loaded by the first call. */
export async function jwtExpiry(): Promise<ExpiryOf> {
  return (loaded ??= await load())
}

async function load(): Promise<ExpiryOf> {
  const { decodeJwt } = await import('jose/jwt/decode')
  return (token) => {
    // Most refresh tokens are none. To learn that by an error takes longer than all else that a sweep does of an account.
    if (!isJws.test(token)) return undefined
    try {
      const { exp } = decodeJwt(token)
      return exp === undefined ? undefined : exp * 1000
    } catch {
      return undefined
    }
  }
}
