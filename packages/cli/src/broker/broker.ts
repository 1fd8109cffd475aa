/**
 * `owner-sso broker`: one sign-in for every program. Without an action it listens; the others let programs in and out.
 */
import { usageError } from '../command-line/command-error.ts'
import type { BrokerCall } from '../command-line/manual.ts'
import { invite, list, printCode, revoke, rotate } from './programs.ts'
import { serve } from './serve.ts'

const actions = new Map([
  ['serve', serve],
  ['invite', invite],
  ['list', list],
  ['rotate', rotate],
  ['revoke', revoke],
  ['code', printCode],
])
const ofOneProgram = new Set([invite, rotate, revoke])

export async function run(call: BrokerCall): Promise<void> {
  const [action = 'serve', ...names] = call.args
  const found = actions.get(action)
  if (found === undefined) {
    const next = `It can: ${[...actions.keys()].join(', ')}. Without an action it is serve.`
    throw usageError(`owner-sso broker can’t ${JSON.stringify(action)}.`, next)
  }
  // One that is not looked at would be taken for done: `revoke one another`.
  const most = ofOneProgram.has(found) ? 1 : 0
  if (names.length > most) {
    throw usageError(`owner-sso broker ${action} takes ${most === 0 ? 'no' : 'one'} name.`, 'Nothing was done.')
  }
  return found(call)
}
