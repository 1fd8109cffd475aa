/**
 * `owner-sso accounts`: who is signed in, one name a line. Where a record can't be read, the others come first, then the error.
 */
import { accountNames } from './account.ts'
import type { Call } from '../manual/command.ts'
import type { accounts } from '../manual/manual.ts'
import { printData, printJson, printNote } from '../terminal/output.ts'
import { withTokens } from './token-keeping.ts'

export async function run({ settings }: Call<typeof accounts>): Promise<void> {
  await withTokens(settings, undefined, async ({ tokens, store }) => {
    const { names: accounts, failure } = await accountNames(tokens)
    if (failure !== undefined && accounts.length === 0) throw failure
    if (settings.json) await printJson({ store: store.shown, accounts })
    else if (accounts.length > 0) await printData(...accounts)
    else printNote(`Nobody is signed in at ${store.shown}. Sign in with: owner-sso login`)
    if (failure !== undefined) throw failure
  })
}
