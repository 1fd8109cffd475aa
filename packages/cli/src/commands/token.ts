/** `owner-sso token`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'

export const token = command({
  name: 'token',
  summary: 'print a valid access token',
  description:
    'Prints an access token that the owner API accepts now, and nothing else. It comes from the store; an old one ' +
    'is refreshed first, once, however many calls ask at the same time.',
  options: {},
  examples: [
    ['curl -H "Authorization: Bearer $(owner-sso token)" "$OWNER_SSO_API_URL/api/1/vehicles"', 'call the owner API'],
  ],
})
