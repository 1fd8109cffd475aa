/**
 * `owner-sso broker`: one sign-in for every program. Without an action it listens; `run` starts one program; the others let programs in
 * and out.
 */
import { usageError } from '../failure/command-error.ts'
import { type BrokerCall, brokerOptions } from '../broker/broker-options.ts'
import { defineCommand } from './command.ts'

type Work = (call: BrokerCall) => Promise<number | void>

const programs = () => import('../broker/programs.ts')

/** Each with how many names it takes. */
const actions = new Map<string, readonly [load: () => Promise<Work>, most: number]>([
  ['serve', [async () => (await import('../broker/serve.ts')).serve, 0]],
  ['invite', [async () => (await programs()).invite, 1]],
  ['list', [async () => (await programs()).list, 0]],
  ['rotate', [async () => (await programs()).rotate, 1]],
  ['revoke', [async () => (await programs()).revoke, 1]],
  ['code', [async () => (await programs()).printCode, 0]],
  ['run', [async () => (await import('../broker/run.ts')).run, Infinity]],
])

export const command = defineCommand({
  name: 'broker',
  args: '[what...]',
  summary: 'hand tokens to other programs, from one sign-in',
  description:
    'Alone, it listens and hands access tokens to programs: on a Unix socket that only you can open, or with ' +
    '--port on 127.0.0.1, for programs with a key, and with a status page. invite NAME lets a program in and ' +
    'prints its refresh token, once. list, rotate NAME and revoke NAME are about those programs. code prints a ' +
    'code for the status page. run -- PROGRAM starts a program that can’t be pointed at a broker: its refreshes are ' +
    'answered here, all else that it sends goes where it is meant to.',
  options: brokerOptions,
  examples: [
    ['owner-sso broker', 'then: curl --unix-socket ~/.config/owner-sso/broker.sock http://broker/token'],
    ['owner-sso broker --port 8700', 'with a status page'],
    ['owner-sso broker invite heating --expires 365d', 'prints its refresh token'],
    ['owner-sso broker revoke heating', 'it gets nothing any more'],
    ['owner-sso broker run -- python3 heating.py', 'a program that knows only the service’s own address'],
  ],
  async run(call) {
    const [action = 'serve', ...names] = call.args
    const [load, most] = actions.get(action) ?? []
    if (load === undefined || most === undefined) {
      const next = `It can: ${[...actions.keys()].join(', ')}. Without an action it is serve.`
      throw usageError(`owner-sso broker can’t ${JSON.stringify(action)}.`, next)
    }
    // One that is not looked at would be taken for done: `revoke one another`.
    if (names.length > most) {
      throw usageError(`owner-sso broker ${action} takes ${most === 0 ? 'no' : 'one'} name.`, 'Nothing was done.')
    }
    return (await load())(call)
  },
})
