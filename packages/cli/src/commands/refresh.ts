/** `owner-sso refresh`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'

export const refresh = command({
  name: 'refresh',
  summary: 'refresh the tokens now',
  description:
    'Replaces the access token, whatever its age. Rarely needed: owner-sso token refreshes by itself. Twice within ' +
    'a minute sends only one request.',
  options: {},
  examples: [['owner-sso refresh --account ann@example.com', 'one account']],
})
