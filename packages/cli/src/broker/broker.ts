/**
 * `owner-sso broker`: one sign-in for every program. Without an action it listens; `run` starts one program; the others let programs in
 * and out.
 */
import { usageError } from '../failure/command-error.ts'
import type { BrokerCall } from '../manual/manual.ts'
import { invite, list, printCode, revoke, rotate } from './programs.ts'
import { run as runProgram } from './run.ts'
import { serve } from './serve.ts'

/** Each with how many names it takes. */
const actions = new Map<string, readonly [work: (call: BrokerCall) => Promise<number | void>, most: number]>([
  ['serve', [serve, 0]],
  ['invite', [invite, 1]],
  ['list', [list, 0]],
  ['rotate', [rotate, 1]],
  ['revoke', [revoke, 1]],
  ['code', [printCode, 0]],
  ['run', [runProgram, Infinity]],
])

export async function run(call: BrokerCall): Promise<number | void> {
  const [action = 'serve', ...names] = call.args
  const [work, most] = actions.get(action) ?? []
  if (work === undefined || most === undefined) {
    const next = `It can: ${[...actions.keys()].join(', ')}. Without an action it is serve.`
    throw usageError(`owner-sso broker can’t ${JSON.stringify(action)}.`, next)
  }
  // One that is not looked at would be taken for done: `revoke one another`.
  if (names.length > most) {
    throw usageError(`owner-sso broker ${action} takes ${most === 0 ? 'no' : 'one'} name.`, 'Nothing was done.')
  }
  return work(call)
}
