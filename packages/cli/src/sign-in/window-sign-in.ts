/**
 * A sign-in in a browser window of its own: the person signs in there, and the address that it ends on is caught on its way.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { type AuthorizationRequest, pastedAddress } from '@owner-sso/core'
import { CommandError, exitCodes } from '../failure/command-error.ts'
import { stopped, untilStopped } from '../failure/interruption.ts'
import type { LoginVoice } from './login-voice.ts'
import { BrowserStartError, type BrowserWindow, startBrowser } from '../window/browser-window.ts'
import { type StoppedPage, watchForCallback } from '../window/callback-watch.ts'
import { duration } from '../terminal/wording.ts'

/** Seconds that a person may take: as long as a sign-in through Passport in its mode `browser` waits. */
const limit = 15 * 60

const readingTime = 1500

export interface AuthorizationLink {
  readonly url: string
  readonly request: AuthorizationRequest
}

/**
 * @param program - path of the browser
 * @param redeem - what is done with the address; its failure is this call's
 * @throws BrowserStartError; CommandError where the person ends the sign-in, or takes too long
 */
export async function signInInWindow<Result>(
  program: string,
  { url, request }: AuthorizationLink,
  redeem: (address: string) => Promise<Result>,
  voice: LoginVoice,
): Promise<Result> {
  const window = await startBrowser(program)
  try {
    voice.tell('A browser window opens: sign in there. There is nothing to copy; this goes on by itself.')
    const page = await unlessOver(stoppedPage(window, { url, request }), window, voice)
    refuseCancelled(page.address, request.redirectUri, '--browser')
    return await redeemedOn(page, () => redeem(page.address))
  } finally {
    await window.close()
  }
}

/** Shows the service's page. Resolves when that, or any other, leaves for the redirect address. */
function stoppedPage(window: BrowserWindow, { url, request }: AuthorizationLink): Promise<StoppedPage> {
  return new Promise((resolve, reject) => {
    watchForCallback(window.pipe, request, resolve)
      .then(() => window.open(url))
      .catch(() => reject(new BrowserStartError('The browser could not show the page of the SSO service.')))
  })
}

async function unlessOver(page: Promise<StoppedPage>, window: BrowserWindow, voice: LoginVoice): Promise<StoppedPage> {
  const decided = new AbortController()
  const show = (left: string): void => voice.wait(`Waiting for you in the browser window: ${left} left`)
  try {
    return await Promise.race([
      page,
      window.closed.then(() => {
        throw givenUp('The browser window was closed before you were signed in.', '--browser')
      }),
      untilStopped().then(() => {
        throw new Error('Stopped')
      }),
      outOfTime(show, decided.signal),
    ])
  } finally {
    decided.abort()
    voice.wait('')
  }
}

/** Rejects when the time is over. The clock on the wall counts, since a sign-in grows old while the machine sleeps. */
async function outOfTime(show: (left: string) => void, decided: AbortSignal): Promise<never> {
  const end = Date.now() / 1000 + limit
  let shown = ''
  for (let left = limit; left > 0; left = end - Date.now() / 1000) {
    const words = duration(left)
    if (words !== shown) show(words)
    shown = words
    await delay(500, undefined, { signal: decided })
  }
  const again = 'To sign in after all, run owner-sso login --browser again.'
  throw new CommandError(exitCodes.signInAgain, 'The sign-in took longer than 15 minutes. Nothing was stored.', again)
}

/** The person reads in the window how it ended. */
async function redeemedOn<Result>(page: StoppedPage, redeem: () => Promise<Result>): Promise<Result> {
  const show = async (html: string): Promise<void> => {
    try {
      await page.show(html)
      await delay(readingTime, undefined, { signal: stopped })
    } catch {
      // The window was closed, or Ctrl-C pressed: nobody reads it.
    }
  }
  try {
    const result = await redeem()
    await show(signedInPage)
    return result
  } catch (error) {
    if (!stopped.aborted) await show(notSignedInPage)
    throw error
  }
}

/** The person ended it on the service's page. @param way - the option that it was begun with */
function givenUp(message: string, way: '--browser' | '--paste'): CommandError {
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

const signedInPage = lastPage('You are signed in', 'This window closes by itself. Go on in the terminal.')

const notSignedInPage = lastPage(
  'You are not signed in',
  'Nothing was stored. The terminal says why; this window closes by itself.',
)

function lastPage(title: string, text: string): string {
  return `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>${title}</title>
  <style>
    :root { color-scheme: light dark; font: 18px/1.5 system-ui, sans-serif }
    body { display: grid; min-height: 90vh; place-content: center; text-align: center; padding: 0 1rem; background: #f5f4f0; color: #1d2321 }
    @media (prefers-color-scheme: dark) { body { background: #131716; color: #ecefec } }
    h1 { font-size: 1.6rem; margin: 0 }
  </style>
  <main>
    <h1>${title}</h1>
    <p>${text}</p>
  </main>
</html>`
}
