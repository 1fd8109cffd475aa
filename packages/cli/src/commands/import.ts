/** `owner-sso import`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'
import { flag, type OptionsOf } from '../command-line/option.ts'

export const importTokens = command({
  name: 'import',
  args: '[file]',
  summary: 'take over the refresh tokens of another program',
  description:
    'Reads a refresh token, a token response, what owner-sso export wrote, or the cache of another client: JSON ' +
    'keyed by account. Shows what it found, without a secret, and asks before it stores. Sends nothing: the first ' +
    'use refreshes. No other program may use the tokens from then on. Without a file, or for -, it reads standard ' +
    'input.',
  options: {
    dryRun: flag('only show what would be imported'),
    yes: flag('store without asking'),
    replace: flag('end the sign-in that an account has here'),
    check: flag('make one refresh of each account, to see that its tokens work'),
  },
  examples: [
    ['owner-sso import cache.json', 'all accounts of another client'],
    ['owner-sso import --account ann@example.com --yes < refresh-token.txt', 'a refresh token alone'],
  ],
})

export type ImportFlags = OptionsOf<(typeof importTokens)['options']>
