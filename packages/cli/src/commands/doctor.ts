/** `owner-sso doctor`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'
import { flag } from '../command-line/option.ts'

export const doctor = command({
  name: 'doctor',
  summary: 'find problems, and say how to fix them',
  description:
    'Checks the settings, the store and its file modes, whether the SSO service and the owner API can be reached, ' +
    'the TLS version, and this machine’s clock. Makes no login: one request to each of the two. --live also makes ' +
    'one refresh and one call of the owner API, once you agree: it shows whether a token that is minted here is ' +
    'accepted, and over which transport. On a refusal it names the transport to try next.',
  options: {
    live: flag('make one refresh and one call of the owner API, after asking'),
    yes: flag('agree to --live'),
  },
  examinesSettings: true,
  examples: [
    ['owner-sso doctor --json', 'for a bug report; there are no secrets in it'],
    ['owner-sso doctor --live --account ann@example.com', 'if the owner API answers 403'],
  ],
})
