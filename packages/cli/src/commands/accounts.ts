/** `owner-sso accounts`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'

export const accounts = command({
  name: 'accounts',
  summary: 'list the accounts of the store',
  description: 'Prints the names of all accounts that are signed in or have to sign in again, one per line.',
  options: {},
  examples: [['owner-sso accounts | xargs -n1 owner-sso refresh --account', 'refresh all']],
})
