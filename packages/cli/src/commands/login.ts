/** `owner-sso login`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'
import { flag, type OptionsOf, value } from '../command-line/option.ts'

export const login = command({
  name: 'login',
  summary: 'sign in, and keep the tokens',
  description:
    'Signs an account in and stores its tokens. Asks for what is missing: e-mail, password, second factor, ' +
    'passcode. Nothing is stored before the whole sign-in has succeeded, and the password never is. Passwords and ' +
    'passcodes are never options: everybody on a machine can read the list of processes.',
  options: {
    credentialFile: value('<path>', 'read the password from a file (- is standard input)'),
    totpSecretFile: value('<path>', 'make passcodes from the secret in a file (base32, or an otpauth:// address)'),
    factor: value('<name>', 'which second factor the passcode is from, by its name or id'),
    browser: flag('sign in on the service’s own page, in a browser window that closes by itself'),
    paste: flag('sign in there in any browser, then paste the address that you end up on'),
  },
  examples: [
    ['owner-sso login', 'asks for everything'],
    ['owner-sso login --account ann@example.com --credential-file - < password.txt', 'without a terminal'],
    ['owner-sso login --browser', 'for an account that gets a captcha'],
    ['owner-sso login --paste', 'the same, with the browser of another machine'],
  ],
})

export type LoginFlags = OptionsOf<(typeof login)['options']>
