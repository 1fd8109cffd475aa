/**
 * `owner-sso refresh`: new tokens now.
 */
import { requireSignedIn, chosenAccount } from './account.ts'
import type { Call } from '../manual/command.ts'
import type { refresh } from '../manual/manual.ts'
import { duration } from '../terminal/wording.ts'
import { stopped } from '../failure/interruption.ts'
import { printJson, printNote } from '../terminal/output.ts'
import { serviceOf } from '../settings/configured-service.ts'
import { withTokens } from './token-keeping.ts'

export async function run({ settings }: Call<typeof refresh>): Promise<void> {
  await withTokens(settings, serviceOf(settings), async ({ tokens }) => {
    const account = await chosenAccount(settings, tokens)
    const before = await tokens.status(account)
    await requireSignedIn(account, tokens, () => tokens.refresh(account, { signal: stopped }))
    const after = await tokens.status(account)
    // By this process, or by another one meanwhile.
    const refreshed = after.refreshed_at !== before.refreshed_at
    if (settings.json) await printJson({ account, refreshed, ...after })
    const left = duration((after.expires_at ?? 0) - Date.now() / 1000)
    if (refreshed) printNote(`${account} has new tokens; the access token is valid for ${left}.`)
    else printNote(`${account} was refreshed less than a minute ago, so nothing was sent; ${left} are left.`)
  })
}
