/**
 * A request that got no answer, as the error that a caller is shown: what happened, and whether the request may have
 * reached the service.
 */
import { type SsoError, type SsoStep, SsoTimeoutError, UnexpectedResponseError, UnreachableError } from '../errors.ts'
import type { BareFailure } from './round-trip.ts'
import { unreachableReason } from './unreachable-reason.ts'

/** What is known about the request beside its failure. */
export interface RequestFate {
  readonly url: URL
  /** Whether the connection goes through a proxy, which may be what failed. */
  readonly isProxied: boolean
  readonly step: SsoStep
  /** Whether writing it had begun. */
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
