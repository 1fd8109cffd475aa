/** `owner-sso export`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'
import { flag, value } from '../command-line/option.ts'

export const exportTokens = command({
  name: 'export',
  summary: 'write refresh tokens into a file, sealed',
  description:
    'Writes the refresh token of an account, for owner-sso import on another machine or for another program. It is ' +
    'sealed with the first key of OWNER_SSO_ENCRYPTION_KEY, or with a passphrase that is asked for. Afterwards ' +
    'only one of the two may use it.',
  options: {
    file: value('<path>', 'write a new file that only you can read (default: standard output)'),
    all: flag('all accounts of the store'),
    plainTextTokens: flag('do not seal: whoever reads the output is signed in'),
  },
  examples: [['owner-sso export --account ann@example.com --file ann.json', 'asks for a passphrase']],
})
