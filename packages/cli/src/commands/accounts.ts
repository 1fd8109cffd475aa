/**
 * `owner-sso accounts`: who is signed in, one name a line.
 */
import { accountNames } from '../account.ts'
import type { Call } from '../call.ts'
import { exitCodes } from '../command-error.ts'
import { printData, printJson, printNote } from '../output.ts'
import { withTokens } from '../token-keeping.ts'

export async function run({ settings }: Call): Promise<number> {
  await withTokens(settings, undefined, async ({ tokens, store }) => {
    const accounts = await accountNames(tokens)
    if (settings.json) await printJson({ store: store.shown, accounts })
    else if (accounts.length > 0) await printData(accounts.join('\n'))
    else printNote(`Nobody is signed in at ${store.shown}. Sign in with: owner-sso login`)
  })
  return exitCodes.ok
}
