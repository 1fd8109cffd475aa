/**
 * Trouble that no listener is told of, as a warning of the process: once for each cause.
 */
import { stackFrames } from '@owner-sso/core'
import { property } from '../property.ts'
import type { Answer } from './problem.ts'
import { ssoErrorIn } from './sso-error.ts'

/** The causes that were told, a hundred at the most: by then somebody reads the warnings, or nobody will. */
const told = new Set<string>()
const mostTold = 100

/** The times in a message: they differ each time, and the cause is the same. */
const time = /\d{4}-\d\d-\d\dT[\d:.]+Z/gu

export function warnOfProblem({ status, problem }: Answer, error: unknown, host: string | undefined): void {
  const cause = causeOf(status, problem, error)
  if (cause === undefined) return
  const about = host !== undefined && problem.code.startsWith('ERR_OWNER_API') ? ` (${host})` : ''
  const text = `${problem.code}${about}: ${cause}`
  const key = text.replaceAll(time, '')
  if (told.has(key) || told.size >= mostTold) return
  told.add(key)
  process.emitWarning(`${text} Callers get ${status}. This is told once; the option onProblem hears of it each time.`, {
    type: 'OwnerSsoWarning',
    code: 'OWNER_SSO_PROBLEM',
    ...(isUnknown(problem) && { detail: stackFrames(error) }),
  })
}

/** The message of an error that is nobody's we know may have anything in it. */
const isUnknown = ({ code }: { readonly code: string }): boolean => code.endsWith('_INTERNAL')

/** `undefined` where it is the caller's own: nobody else can mend it. */
function causeOf(status: number, problem: Answer['problem'], error: unknown): string | undefined {
  const ssoError = ssoErrorIn(error)
  if (status < 500) {
    const hint = property(property(ssoError, 'cause'), 'message')
    return ssoError?.code === 'ERR_SSO_SIGNED_OUT' && typeof hint === 'string' ? hint : undefined
  }
  if (ssoError) return ssoError.message
  const message = property(error, 'message')
  if (isUnknown(problem) || typeof message !== 'string' || message === problem.code) return problem.detail
  return `${problem.detail} ${message}${/[.!?]$/u.test(message) ? '' : '.'}`
}
