/** `owner-sso token`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'
import { value } from '../command-line/option.ts'

export const token = command({
  name: 'token',
  summary: 'print a valid access token',
  description:
    'Prints an access token that the owner API accepts now, and nothing else. It comes from the store; an old one ' +
    'is refreshed first, once, however many calls ask at the same time.',
  options: {
    minValidity: value('<time>', 'one that lives at least so long: 900, 15m or 2h'),
  },
  examples: [
    ['curl -H "Authorization: Bearer $(owner-sso token)" "$OWNER_SSO_API_URL/api/1/vehicles"', 'call the owner API'],
    ['owner-sso token --min-validity 30m', 'for a program that runs half an hour'],
  ],
})
