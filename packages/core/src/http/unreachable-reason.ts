/**
 * Why there was no connection, in words, from the code of the system or of TLS.
 */

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was cut while it was made',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to its network',
  ETIMEDOUT: 'it does not answer',
  ENOTFOUND: 'the name does not resolve',
  EAI_AGAIN: 'the name can’t be looked up for now',
  EPROTO: 'it speaks no TLS that is allowed here',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
}

/** OpenSSL's codes for a certificate that no known authority has signed. */
const untrusted = /SELF_SIGNED_CERT|UNABLE_TO_(?:GET_ISSUER|VERIFY)|CERT_UNTRUSTED/u

/** @param code - shown only if it looks like a code of the system */
export function unreachableReason(code: string | undefined): string {
  if (code === undefined || !/^[A-Z0-9_]{1,64}$/u.test(code)) return 'the connection failed'
  return `${wordsFor(code)} (${code})`
}

function wordsFor(code: string): string {
  if (Object.hasOwn(reasons, code)) return reasons[code]!
  if (untrusted.test(code)) return 'its certificate is signed by nobody who is trusted here'
  if (code.includes('CERT')) return 'its certificate is not accepted'
  return code.startsWith('ERR_SSL_') ? reasons['EPROTO']! : 'the connection failed'
}
