/**
 * `owner-sso why`: why an account is as it is, in one sentence, with what that rests on, what to do, and how sure it is.
 */
import { printData, printJson } from '../terminal/output.ts'
import { chosenAccount, namedAccount } from '../tokens/account.ts'
import { withTokens } from '../tokens/token-keeping.ts'
import { defineCommand } from './command.ts'

export const command = defineCommand({
  name: 'why',
  args: '[account]',
  summary: 'say why an account is signed out',
  description:
    'Names one cause, and says how sure that is, what to do, and what it rests on: the last events of the account, which ' +
    'its record keeps. Sends nothing. With --json, all of its last 32 events. There is no secret in it.',
  options: {},
  examples: [
    ['owner-sso why ann@example.com', 'one sentence, and what it rests on'],
    ['owner-sso why --json | jq .events', 'for programs'],
  ],
  async run({ settings, args: [named] }) {
    await withTokens(settings, undefined, async ({ tokens, store }) => {
      const account = named === undefined ? await chosenAccount(settings, tokens) : namedAccount(named)
      const history = await tokens.history(account)
      if (settings.json) return printJson({ account, store: store.shown, ...history })
      const { sentence, rests_on, to_do, or_else } = history.why
      return printData(
        [{ format: 'bold', text: `${account}: ${sentence}` }],
        or_else === undefined ? 'That is sure.' : `That is likely. ${or_else}`,
        `What to do: ${to_do}`,
        ...(rests_on.length === 0 ? [] : ['It rests on:']),
        ...rests_on.map((line) => `  ${line}`),
      )
    })
  },
})
