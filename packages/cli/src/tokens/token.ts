/**
 * `owner-sso token`: a valid access token, and nothing else.
 */
import { requireSignedIn, chosenAccount } from './account.ts'
import type { Call } from '../manual/command.ts'
import type { token } from '../manual/manual.ts'
import { stopped } from '../failure/interruption.ts'
import { printData, printJson } from '../terminal/output.ts'
import { timeSpan } from '../settings/time-span.ts'
import { serviceOf } from '../settings/configured-service.ts'
import { withTokens } from './token-keeping.ts'

export async function run({ settings, options }: Call<typeof token>): Promise<void> {
  const { minValidity: text } = options
  const minValidity = text === undefined ? undefined : timeSpan('--min-validity', text)
  await withTokens(settings, serviceOf(settings), async ({ tokens }) => {
    const account = await chosenAccount(settings, tokens)
    const { access_token, expires_at } = await requireSignedIn(account, tokens, () =>
      tokens.getTokens(account, { signal: stopped, minValidity }),
    )
    await (settings.json ? printJson({ account, access_token, expires_at }) : printData(access_token))
  })
}
