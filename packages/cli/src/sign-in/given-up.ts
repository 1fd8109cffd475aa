/**
 * A sign-in on the service's own page that the person ended there.
 */
import { pastedAddress } from '@owner-sso/core'
import { CommandError, exitCodes } from '../failure/command-error.ts'

/** @param way - the option that the sign-in was begun with */
export function givenUp(message: string, way: '--browser' | '--paste'): CommandError {
  const again = `To sign in after all, run owner-sso login ${way} again.`
  return new CommandError(exitCodes.credentials, `${message} Nothing was stored.`, again)
}

/**
 * RFC 6749 section 4.1.2.1, and the service's own word.
 *
 * @throws CommandError for the redirect address with either
 */
export function refuseCancelled(address: string, redirectUri: string, way: '--browser' | '--paste'): void {
  const pasted = pastedAddress(address, redirectUri)
  if (!pasted.startsWith(`${redirectUri}?`) || !URL.canParse(pasted)) return
  const error = new URL(pasted).searchParams.get('error')
  if (error === 'access_denied' || error === 'login_cancelled') throw givenUp('You cancelled the sign-in.', way)
}
