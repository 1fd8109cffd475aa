/**
 * `owner-sso broker`: one sign-in for every program. Without an action it listens; the others let programs in and out.
 */
import { invite, list, printCode, revoke, rotate } from '../broker/programs.ts'
import { serve } from '../broker/serve.ts'
import type { Call, CommandModule } from '../call.ts'
import { usageError } from '../command-error.ts'

const actions: Readonly<Record<string, CommandModule['run']>> = { serve, invite, list, rotate, revoke, code: printCode }

export async function run(call: Call): Promise<number> {
  const [action = 'serve'] = call.args
  const found = Object.hasOwn(actions, action) ? actions[action] : undefined
  if (found !== undefined) return found(call)
  throw usageError(
    `owner-sso broker can’t ${JSON.stringify(action)}.`,
    `It can: ${Object.keys(actions).join(', ')}. Without an action it is serve.`,
  )
}
