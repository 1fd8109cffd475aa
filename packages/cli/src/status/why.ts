/**
 * `owner-sso why`: why an account is as it is, in one sentence, with what that rests on, what to do, and how sure it is.
 */
import { accountName } from '@owner-sso/core'
import type { Call } from '../manual/command.ts'
import type { why as whyCommand } from '../manual/manual.ts'
import { printData, printJson } from '../terminal/output.ts'
import { chosenAccount } from '../tokens/account.ts'
import { withTokens } from '../tokens/token-keeping.ts'

export async function run({ settings, args: [named] }: Call<typeof whyCommand>): Promise<void> {
  await withTokens(settings, undefined, async ({ tokens, store }) => {
    const account = named === undefined ? await chosenAccount(settings, tokens) : accountName(named)
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
}
