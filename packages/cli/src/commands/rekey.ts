/** `owner-sso rekey`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'

export const rekey = command({
  name: 'rekey',
  summary: 'change the key that the store is sealed with',
  description:
    'Seals every record again with the first key of OWNER_SSO_ENCRYPTION_KEY, where it is, while everything goes ' +
    'on. Set OLD_KEY,NEW_KEY everywhere first, then NEW_KEY,OLD_KEY everywhere, then run this command. Says when the ' +
    'old key may go.',
  options: {},
  examples: [['OWNER_SSO_ENCRYPTION_KEY=$NEW_KEY,$OLD_KEY owner-sso rekey', 'the store of the settings']],
})
