/** `owner-sso copy`: what it takes, and what its help says. */
import { command } from '../command-line/command.ts'
import { flag, type OptionsOf } from '../command-line/option.ts'

export const copy = command({
  name: 'copy',
  args: '<from> <to>',
  summary: 'copy all accounts into another store',
  description:
    'Copies the newest record of every account into another store, and what its processes share: a block of the ' +
    'firewall, the programs of the broker. Newer records in the target stay. First stop everything that uses the ' +
    'old store: a token that is refreshed there afterwards is dead in the copy. A dash stands for the store of ' +
    'OWNER_SSO_STORE or the config file.',
  options: {
    fromPlain: flag('read the first store unencrypted, although OWNER_SSO_ENCRYPTION_KEY is set'),
    toPlain: flag('leave the second store unencrypted'),
  },
  examples: [
    ['owner-sso copy file:tokens redis://127.0.0.1:6379', 'from a folder into Redis'],
    ['owner-sso copy --from-plain file:tokens file:sealed', 'encrypt what was plain'],
  ],
})

export type CopyFlags = OptionsOf<(typeof copy)['options']>
