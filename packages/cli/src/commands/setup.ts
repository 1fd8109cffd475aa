/** `owner-sso setup`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'

export const setup = command({
  name: 'setup',
  summary: 'ask for the settings, try them, write them down',
  description:
    'Asks for what a first use needs: the addresses of the SSO service and the owner API, other instances, the ' +
    'store and the account. Proposes what is set already, and tries each answer at once. Then it writes the config ' +
    'file; the former one stays beside it.',
  options: {},
  examples: [['owner-sso setup && owner-sso login', 'a first use']],
})
