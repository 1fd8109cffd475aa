/**
 * `owner-sso logout`: the tokens are forgotten.
 */
import { chosenAccount } from './account.ts'
import type { Call } from '../manual/command.ts'
import type { logout } from '../manual/manual.ts'
import { printJson, printNote } from '../terminal/output.ts'
import { withTokens } from './token-keeping.ts'

export async function run({ settings }: Call<typeof logout>): Promise<void> {
  await withTokens(settings, undefined, async ({ tokens, store }) => {
    const account = await chosenAccount(settings, tokens)
    const wasSignedIn = (await tokens.status(account)).state !== 'signed-out'
    if (wasSignedIn) await tokens.forget(account)
    if (settings.json) await printJson({ account, wasSignedIn })
    if (wasSignedIn) printNote(`${account} is signed out: its tokens are gone from ${store.shown}.`)
    else printNote(`${account} was not signed in at ${store.shown}. Who is: owner-sso accounts`)
  })
}
