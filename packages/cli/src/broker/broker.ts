/**
 * `owner-sso broker`: one sign-in for every program. Without an action it listens; the others let programs in and out.
 */
import { invite, list, printCode, revoke, rotate } from './programs.ts'
import { serve } from './serve.ts'
import type { BrokerCall } from './broker-call.ts'
import { usageError } from '../command-line/command-error.ts'

type Action = (call: BrokerCall) => Promise<number>

const actions: Readonly<Record<string, Action>> = { serve, invite, list, rotate, revoke, code: printCode }
const ofOneProgram: ReadonlySet<Action> = new Set([invite, rotate, revoke])

export async function run(call: BrokerCall): Promise<number> {
  const [action = 'serve', ...names] = call.args
  const found = Object.hasOwn(actions, action) ? actions[action] : undefined
  if (found === undefined) {
    throw usageError(
      `owner-sso broker can’t ${JSON.stringify(action)}.`,
      `It can: ${Object.keys(actions).join(', ')}. Without an action it is serve.`,
    )
  }
  // One that is not looked at would be taken for done: `revoke one another`.
  const most = ofOneProgram.has(found) ? 1 : 0
  if (names.length > most) {
    throw usageError(`owner-sso broker ${action} takes ${most === 0 ? 'no' : 'one'} name.`, 'Nothing was done.')
  }
  return found(call)
}
