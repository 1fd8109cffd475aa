/**
 * `owner-sso logout`: the tokens are forgotten.
 */
import { chosenAccount } from '../tokens/account.ts'
import { printJson, printNote } from '../terminal/output.ts'
import { withTokens } from '../tokens/token-keeping.ts'
import { defineCommand } from './command.ts'

export const command = defineCommand({
  name: 'logout',
  summary: 'sign out, and forget the tokens',
  description:
    'Removes the tokens of an account from the store, older versions included. A refresh that is under way ' +
    'elsewhere can’t bring them back. The service is not told: it takes the tokens until they expire.',
  options: {},
  examples: [['owner-sso logout --account ann@example.com', 'one account']],
  async run({ settings }) {
    await withTokens(settings, undefined, async ({ tokens, store }) => {
      const account = await chosenAccount(settings, tokens)
      const wasSignedIn = (await tokens.status(account)).state !== 'signed-out'
      if (wasSignedIn) await tokens.forget(account)
      if (settings.json) await printJson({ account, wasSignedIn })
      if (wasSignedIn) printNote(`${account} is signed out: its tokens are gone from ${store.shown}.`)
      else printNote(`${account} was not signed in at ${store.shown}. Who is: owner-sso accounts`)
    })
  },
})
