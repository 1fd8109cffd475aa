/**
 * A request that got no answer, as the error that a caller is shown: what happened, and whether the request may have
 * reached the service.
 */
import { type SsoError, type SsoStep, SsoTimeoutError, UnexpectedResponseError, UnreachableError } from '../errors.ts'
import type { BareFailure } from './round-trip.ts'

export interface RequestFate {
  readonly url: URL
  readonly isProxied: boolean
  readonly step: SsoStep
  readonly requestSent: boolean
  /** Whether it ended because its time was up or the caller's signal said so. */
  readonly timedOut: boolean
}

/** The error for a failed request. Every code that is not an answer's own fault means a broken or missing connection. */
export function httpFailure({ code, syscall }: BareFailure, fate: RequestFate): SsoError {
  const { step, requestSent, timedOut } = fate
  const options = { step, requestSent, cause: { code, syscall } }
  if (timedOut) {
    return new SsoTimeoutError('The SSO service did not answer in time. Nothing was repeated.', { step, requestSent })
  }
  if (!requestSent) {
    const where = `${addressOf(fate.url)}${fate.isProxied ? ' through the proxy' : ''}`
    // A proxy answers for the service's connection with a status: what the system says is about the proxy's.
    const whose = fate.isProxied && isAboutConnecting(syscall) ? 'the proxy itself can’t be reached, ' : ''
    const reason = whose + unreachableReason(code)
    const message = `The SSO service could not be reached at ${where}: ${reason}. Nothing was sent.`
    return new UnreachableError(message, options)
  }
  const problem = problemOfAnswer(code)
  if (problem !== undefined) return new UnexpectedResponseError(problem, options)
  const broken = 'The connection to the SSO service broke before it had answered. Nothing was repeated.'
  const isPlain = fate.url.protocol === 'http:'
  return new UnreachableError(
    isPlain ? `${broken} If TLS is spoken there, its address begins with https://.` : broken,
    options,
  )
}

function isAboutConnecting(syscall: string | undefined): boolean {
  return syscall === 'connect' || syscall === 'getaddrinfo'
}

/** Host and port alone: a path or a query may hold a secret. */
function addressOf({ protocol, hostname, port }: URL): string {
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}

/** What was wrong with an answer that could not be read; `undefined` where the code is about the connection. */
function problemOfAnswer(code = ''): string | undefined {
  if (code === 'ANSWER_TOO_LARGE' || code === 'ERR_BUFFER_TOO_LARGE') return 'it is larger than 256 KiB'
  if (code === 'ANSWER_TOO_LONG_ON_THE_WIRE') return 'it takes more than 1 MiB to transfer'
  if (code === 'TOO_MANY_INTERIM_ANSWERS') return 'more than ten interim answers came before it'
  if (code === 'SWITCHED_PROTOCOLS') return 'it switches protocols (101), which nobody asked for'
  if (code === 'HPE_HEADER_OVERFLOW') return 'its headers are larger than 16 KiB'
  if (code === 'HPE_INVALID_EOF_STATE') return undefined
  if (code.startsWith('HPE_')) return 'it is not valid HTTP'
  return /^(?:Z_|ERR_?_?BROTLI|ERR__ERROR_|ERR_FORMAT)/u.test(code) ? 'its body can’t be decompressed' : undefined
}

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

/** Why there was no connection. @param code - of the system or of TLS; shown only if it looks like one */
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
