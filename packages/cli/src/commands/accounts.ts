/**
 * `owner-sso accounts`: who is signed in, one name a line. Where a record can't be read, the others come first, then the error.
 */
import { accountNames } from '../tokens/account.ts'
import { printData, printJson, printNote } from '../terminal/output.ts'
import { withTokens } from '../tokens/token-keeping.ts'
import { defineCommand } from './command.ts'

export const command = defineCommand({
  name: 'accounts',
  summary: 'list the accounts of the store',
  description: 'Prints the names of all accounts that are signed in or have to sign in again, one per line.',
  options: {},
  examples: [['owner-sso accounts | xargs -n1 owner-sso refresh --account', 'refresh all']],
  async run({ settings }) {
    await withTokens(settings, undefined, async ({ tokens, store }) => {
      const { names: accounts, failure } = await accountNames(tokens)
      if (failure !== undefined && accounts.length === 0) throw failure
      if (settings.json) await printJson({ store: store.shown, accounts })
      else if (accounts.length > 0) await printData(...accounts)
      else printNote(`Nobody is signed in at ${store.shown}. Sign in with: owner-sso login`)
      if (failure !== undefined) throw failure
    })
  },
})
