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
  if (code.startsWith('PROXY_')) return proxyReason(code.slice('PROXY_'.length))
  return `${wordsFor(code)} (${code})`
}

/** @param answer - the status that a CONNECT got, or what `tunnel-agent.ts` says of it */
function proxyReason(answer: string): string {
  if (answer === 'SPEAKS_NO_HTTP') return 'its answer is no HTTP'
  if (answer === 'WANTS_PASSWORD')
    return 'it asks for a user and a password (407): put both into its address, percent-encoded, as http://USER:PASSWORD@HOST:PORT'
  if (answer === '407')
    return 'it does not accept the user and the password of its address (407): correct them there, percent-encoded'
  if (answer.startsWith('5'))
    return `it can’t reach that address (${answer}): check both, and whether the proxy has a way to it`
  return `it rejects a tunnel to that address (${answer}): ask whoever runs it to allow CONNECT there`
}

function wordsFor(code: string): string {
  if (Object.hasOwn(reasons, code)) return reasons[code]!
  if (untrusted.test(code)) return 'its certificate is signed by nobody who is trusted here'
  if (code.includes('CERT')) return 'its certificate is not accepted'
  return code.startsWith('ERR_SSL_') ? reasons['EPROTO']! : 'the connection failed'
}
