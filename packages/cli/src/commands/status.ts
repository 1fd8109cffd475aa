/** `owner-sso status`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'
import { flag } from '../command-line/option.ts'

export const status = command({
  name: 'status',
  summary: 'show every account: state, time left, region',
  description:
    'Shows the accounts of the store, or the one that --account names: whether its access token is valid and for ' +
    'how long, the region that issued it, the last refresh and the next, the last failure, and the store. Sends ' +
    'nothing. With --account, the exit code is 3 if only a new sign-in helps.',
  options: {
    watch: flag('draw it again each second, until Ctrl-C; needs a terminal'),
  },
  examples: [
    ['owner-sso status', 'a table'],
    ['owner-sso status --watch', 'the same, kept up to date'],
    ['owner-sso status --json | jq ".accounts[].state"', 'for programs'],
  ],
})
