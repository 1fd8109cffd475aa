/**
 * `owner-sso refresh`: new tokens now.
 */
import { RefreshInDoubtError } from '@owner-sso/core'
import { requireSignedIn, chosenAccount } from '../tokens/account.ts'
import { CommandError } from '../failure/command-error.ts'
import { failureOf } from '../terminal/failure.ts'
import { duration } from '../terminal/wording.ts'
import { stopped } from '../failure/interruption.ts'
import { printJson, printNote } from '../terminal/output.ts'
import { serviceOf } from '../settings/configured-service.ts'
import { withTokens } from '../tokens/token-keeping.ts'
import { defineCommand } from './command.ts'

export const command = defineCommand({
  name: 'refresh',
  summary: 'refresh the tokens now',
  description:
    'Replaces the access token, whatever its age. Rarely needed: owner-sso token refreshes by itself. Twice within ' +
    'a minute sends only one request.',
  options: {},
  examples: [['owner-sso refresh --account ann@example.com', 'one account']],
  async run({ settings }) {
    await withTokens(settings, serviceOf(settings), async ({ tokens }) => {
      const account = await chosenAccount(settings, tokens)
      const before = await tokens.status(account)
      await requireSignedIn(account, tokens, () => tokens.refresh(account, { signal: stopped })).catch(tellDoubt)
      const after = await tokens.status(account)
      // By this process, or by another one meanwhile.
      const refreshed = after.refreshed_at !== before.refreshed_at
      if (settings.json) await printJson({ account, refreshed, ...after })
      const left = duration((after.expires_at ?? 0) - Date.now() / 1000)
      if (refreshed) printNote(`${account} has new tokens; the access token is valid for ${left}.`)
      else printNote(`${account} was refreshed less than a minute ago, so nothing was sent; ${left} are left.`)
    })
  },
})

/** The error's own time is that of callers who use the token before until it ends. Who asks for a new one need not wait so long. */
function tellDoubt(error: unknown): never {
  const isFarOff = error instanceof RefreshInDoubtError && error.nextAttemptAt > Date.now() / 1000 + 60
  if (!isFarOff) throw error
  const { exitCode, message, code } = failureOf(error)
  const next = 'To settle it, run owner-sso refresh again after a minute. owner-sso token gives the one before.'
  throw new CommandError(exitCode, message, next, code)
}
