/**
 * `owner-sso login`: signs an account in and stores its tokens.
 */
import { CommandError, exitCodes, usageError } from '../failure/command-error.ts'
import { dashed } from '../options/option.ts'
import { duration } from '../terminal/wording.ts'
import { stopped } from '../failure/interruption.ts'
import { loginVoice } from '../sign-in/login-voice.ts'
import { printJson } from '../terminal/output.ts'
import { requireRefreshHere, serviceOf } from '../settings/configured-service.ts'
import { withTokens } from '../tokens/token-keeping.ts'
import { type LoginFlags, loginOptions } from '../sign-in/login-options.ts'
import { defineCommand } from './command.ts'

export const command = defineCommand({
  name: 'login',
  summary: 'sign in, and keep the tokens',
  description:
    'Signs an account in and stores its tokens. Asks for what is missing: e-mail, password, second factor, ' +
    'passcode. Nothing is stored before the whole sign-in has succeeded, and the password never is. Passwords and ' +
    'passcodes are never options: everybody on a machine can read the list of processes.',
  options: loginOptions,
  examples: [
    ['owner-sso login', 'asks for everything'],
    ['owner-sso login --account ann@example.com --credential-file - < password.txt', 'without a terminal'],
    ['owner-sso login --browser', 'for an account that gets a captcha'],
    ['owner-sso login --paste', 'the same, with the browser of another machine'],
  ],
  async run({ settings, options }) {
    requireRefreshHere(settings)
    requireOneWay(options)
    const sso = serviceOf(settings)
    const byBrowser = options.browser === true || options.paste === true
    const browser = byBrowser ? await import('../sign-in/browser-sign-in.ts') : undefined
    if (sso.service === 'registered') {
      const next = 'Sign in on the service’s own page: owner-sso login --browser, or --paste.'
      if (!browser) throw usageError('A registered application has no login form that could be filled in here.', next)
      await browser.haveClientSecret(settings)
    }
    await withTokens(
      settings,
      sso,
      async ({ tokens, store }) => {
        // Found out before a password travels: a sign-in that can't be stored is one too many.
        await store.store.read('owner-sso')
        await store.requireWritable()
        const voice = await loginVoice()
        voice.begin(`Sign in at ${new URL(sso.authUrl).host}`)
        try {
          const signIn = browser
            ? browser.signInWithBrowser
            : (await import('../sign-in/password-sign-in.ts')).signInWithPassword
          const { account, tokens: tokenSet } = await signIn(sso, options, settings, voice)
          await tokens.save(account, tokenSet)
          const status = await tokens.status(account)
          const left = duration((status.expires_at ?? 0) - Date.now() / 1000)
          voice.end(`Signed in as ${account}: the access token is valid for ${left}.`)
          const { auth_url } = tokenSet
          if (settings.json) await printJson({ account, ...status, auth_url, store: store.shown })
        } catch (error) {
          if (stopped.aborted) throw new CommandError(exitCodes.unexpected, 'Stopped.', 'Nothing was stored.')
          throw error
        }
      },
      { signsIn: true },
    )
  },
})

function requireOneWay({ browser, paste, ...others }: LoginFlags): void {
  if (browser && paste) throw usageError('--browser and --paste are two ways to sign in.', 'Give one of them.')
  const unheard = (['credentialFile', 'totpSecretFile', 'factor'] as const).find((name) => others[name] !== undefined)
  if (unheard === undefined || !(browser ?? paste)) return
  throw usageError(
    `With ${browser ? '--browser' : '--paste'}, everything is entered on the service’s own page.`,
    `Omit ${dashed(unheard)}.`,
  )
}
