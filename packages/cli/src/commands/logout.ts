/** `owner-sso logout`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'

export const logout = command({
  name: 'logout',
  summary: 'sign out, and forget the tokens',
  description:
    'Removes the tokens of an account from the store, older versions included. A refresh that is under way ' +
    'elsewhere can’t bring them back. The service is not told: it takes the tokens until they expire.',
  options: {},
  examples: [['owner-sso logout --account ann@example.com', 'one account']],
})
