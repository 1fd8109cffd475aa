/**
 * A sign-in on the service's own page: the person goes there, and pastes the address that it ends on.
 */
import { createInterface } from 'node:readline/promises'
import {
  accountName,
  type AuthorizationRequest,
  identifyOwner,
  isSubjectAccount,
  SsoError,
  type Sso,
  type TokenSet,
} from '@owner-sso/core'
import { openInBrowser } from './browser.ts'
import { CommandError, exitCodes, usageError } from './command-error.ts'
import { identityOf } from './credentials.ts'
import { stopped } from './interruption.ts'
import { withProgress } from './login-progress.ts'
import type { LoginVoice } from './login-voice.ts'
import { printNote } from './output.ts'
import type { SignIn } from './password-sign-in.ts'
import { askText, canAsk } from './prompts.ts'
import type { Settings } from './settings.ts'

/** So often a wrong address may be pasted; none of them is sent anywhere. */
const tries = 3

/** What a person does there. An address of an app's own scheme is one that a browser can't open, or hands to that app. */
function instructions(redirectUri: string): string[] {
  const isPage = /^https?:/u.test(redirectUri)
  return [
    isPage
      ? `Sign in there. You end up on a page that does not exist, …${new URL(redirectUri).pathname}?code=…`
      : `Sign in there. Your browser is then sent to ${redirectUri}?code=…, which it may not open.`,
    isPage
      ? 'Copy its whole address from the address bar, and paste it here.'
      : 'Copy that whole address from the address bar, or from the developer tools (Network), and paste it here.',
    'It works once, for a few minutes.',
  ]
}

const wrongAddress = 'This is not the address that this sign-in ends on. Nothing was sent.'

/** @throws what `redeemCallback` throws; CommandError where nobody can paste, or somebody else has signed in */
export async function signInWithBrowser(sso: Sso, settings: Settings, voice: LoginVoice): Promise<SignIn> {
  if (!settings.input) throw usageError('--browser needs a person to paste an address.', 'Omit --no-input.')
  const identity = await identityOf(settings)
  const { url, request } = sso.createAuthorizationUrl(isSubjectAccount(identity) ? {} : { loginHint: identity })
  voice.tell(openInBrowser(url) ? 'Your browser opens this address:' : 'Open this address in your browser:')
  printNote('', url, '')
  voice.tell(...instructions(new URL(url).searchParams.get('redirect_uri') ?? ''))
  return signInOf(accountName(identity), sso, await redeemed(sso, request, settings, voice))
}

async function redeemed(
  sso: Sso,
  request: AuthorizationRequest,
  settings: Settings,
  voice: LoginVoice,
): Promise<TokenSet> {
  for (let attempt = 1; ; attempt += 1) {
    const address = await pastedAddress(settings)
    try {
      const redeem = () => sso.redeemCallback(address, request, { signal: stopped })
      return await withProgress(voice.step, redeem)
    } catch (error) {
      if (!(error instanceof SsoError) || error.requestSent || stopped.aborted) throw error
      if (!canAsk(settings) || attempt === tries) {
        const next = 'Run owner-sso login --browser again, and paste the address of the page that you end up on.'
        throw new CommandError(exitCodes.signInAgain, wrongAddress, next)
      }
      voice.problem(wrongAddress)
    }
  }
}

/** What was typed here is a hint: whose tokens these are, their id_token says. */
async function signInOf(named: string, sso: Sso, received: TokenSet): Promise<SignIn> {
  const { owner, tokens } = await identifyOwner(sso, received, { signal: stopped })
  if (owner.account === named) return { account: named, tokens }
  throw new CommandError(
    exitCodes.signInAgain,
    `The account that signed in is ${owner.account}, not ${named}. Nothing was stored.`,
    `Sign in as ${named}, or run owner-sso login --browser --account ${owner.account}`,
  )
}

/** A program at the other end of standard input writes one line. */
async function pastedAddress(settings: Settings): Promise<string> {
  if (canAsk(settings)) return askText('Address')
  const lines = createInterface({ input: process.stdin, signal: stopped })
  for await (const line of lines) {
    lines.close()
    return line
  }
  throw usageError('No address was pasted.', 'Run owner-sso login --browser in a terminal.')
}
