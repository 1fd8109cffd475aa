/**
 * A sign-in on the service's own page, captcha and all: in a browser window of its own where there can be one, else in any
 * browser, whose last address the person pastes.
 */
import { accountName, identifyOwner, isSubjectAccount, type Sso, type TokenSet } from '@owner-sso/core'
import { identityOf, type LoginFlags } from './login-options.ts'
import { CommandError, exitCodes, usageError } from '../failure/command-error.ts'
import { keepSecret, secretInKeyring } from '../keyring/client-secret.ts'
import { hasDisplay } from '../machine/desktop.ts'
import { checkedSecret } from '../settings/secrets.ts'
import { askSecret, canAsk } from '../terminal/prompts.ts'
import { stopped } from '../failure/interruption.ts'
import { type LoginVoice, withProgress } from './login-voice.ts'
import type { SignIn } from './password-sign-in.ts'
import type { Settings } from '../settings/settings.ts'
import { BrowserStartError } from '../window/browser-window.ts'
import { installedBrowser } from '../window/installed-browser.ts'
import { signInInWindow } from './window-sign-in.ts'

/** @throws what `redeemCallback` throws; CommandError where nobody is there, the sign-in ends without one, or somebody else has signed in */
export async function signInWithBrowser(
  sso: Sso,
  options: LoginFlags,
  settings: Settings,
  voice: LoginVoice,
): Promise<SignIn> {
  if (!settings.input) throw usageError('--browser needs a person to sign in.', 'Omit --no-input.')
  const identity = await identityOf(settings)
  const link = sso.createAuthorizationUrl(isSubjectAccount(identity) ? {} : { loginHint: identity })
  const redeem = async (address: string): Promise<SignIn> => {
    const received = () => sso.redeemCallback(address, link.request, { signal: stopped })
    return signInOf(accountName(identity), sso, await withProgress(voice.step, received))
  }
  const program = options.paste ? undefined : browserToStart(voice)
  try {
    if (program !== undefined) return await signInInWindow(program, link, redeem, voice)
  } catch (error) {
    if (!(error instanceof BrowserStartError)) throw error
    voice.problem(error.message)
  }
  const { redeemPasted } = await import('./pasted-address.ts')
  return redeemPasted(link, redeem, settings, voice)
}

/** A person may type the secret of a registered application once, and the keyring keeps it. @throws CommandError where there is none */
export async function haveClientSecret({ clientId, clientSecretFile, keyring, ...settings }: Settings): Promise<void> {
  if (clientSecretFile !== undefined || clientId === undefined) return
  let problem = await problemOf(secretInKeyring(clientId.value, keyring?.value))
  if (canAsk(settings) && keyring?.value !== false) {
    const question = `Client secret of ${clientId.value}${problem === '' ? ' (empty: the one in the keyring)' : ''}`
    const typed = await askSecret(question, { optional: problem === '' })
    if (typed === '') return
    problem = await problemOf(keepSecret(clientId.value, checkedSecret(typed, 'The client secret')))
  }
  if (problem === '') return
  const next = 'Put it into a file that only you can read, and name that in OWNER_SSO_CLIENT_SECRET_FILE.'
  throw usageError(`There is no client secret: ${problem}.`, next)
}

const problemOf = (use: Promise<unknown>): Promise<string> => use.then(() => '').catch(({ message }: Error) => message)

/** None where no window can be shown. */
function browserToStart(voice: LoginVoice): string | undefined {
  if (!hasDisplay(process.env)) {
    voice.tell('No window can open here: DISPLAY and WAYLAND_DISPLAY are not set. Any browser will do, on any machine.')
    return undefined
  }
  const program = installedBrowser()
  if (program === undefined) {
    voice.tell('Chrome, Chromium, Edge or Brave would spare you the pasting; OWNER_SSO_BROWSER says where one is.')
  }
  return program
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
