/**
 * The flags that set switches once the emulator runs: scenarios, faults, accounts, the firewall, the clock.
 */
import { setClock } from '../control/clock-order.ts'
import type { AccountSwitches } from '../options/account-options.ts'
import type { Emulator } from '../emulator.ts'
import { checkEndpoint } from '../faults/fault-checks.ts'
import { checkScenario } from '../switches/scenarios.ts'
import { parsed } from './option-flags.ts'

type AccountFlag = 'locked' | 'captcha' | 'captcha-after-submission' | 'regional'
type SeveralFlag = 'scenario' | 'once' | 'always' | AccountFlag
type PlainFlag = 'block-now' | 'clock-frozen'

/** For `parseArgs`, and what it makes of them. */
type SwitchFlags = Readonly<
  Record<SeveralFlag, { type: 'string'; multiple: true }> &
    Record<PlainFlag, { type: 'boolean' }> &
    Record<'clock-at', { type: 'string' }>
>
export type SwitchValues = Partial<
  Record<SeveralFlag, string[]> & Record<PlainFlag, boolean> & Record<'clock-at', string>
>

export const switchFlags: SwitchFlags = {
  scenario: { type: 'string', multiple: true },
  once: { type: 'string', multiple: true },
  always: { type: 'string', multiple: true },
  locked: { type: 'string', multiple: true },
  captcha: { type: 'string', multiple: true },
  'captcha-after-submission': { type: 'string', multiple: true },
  regional: { type: 'string', multiple: true },
  'block-now': { type: 'boolean' },
  'clock-at': { type: 'string' },
  'clock-frozen': { type: 'boolean' },
}

export const switchFlagHelp: readonly (readonly [flag: string, about: string])[] = [
  ['--scenario <name>', 'A scenario of the list below; repeat it for several'],
  ['--once <endpoint>:<fault>', 'The next request meets the fault: refresh:drop=after-commit'],
  ['--always <endpoint>:<fault>', 'Every request does: token:status=503,delay=2000'],
  ['--locked <identity>', 'This account is locked'],
  ['--captcha <identity>', 'This account meets a captcha'],
  ['--captcha-after-submission <identity>', 'It does once its form was submitted'],
  ['--regional <identity>', 'This account lives in the other region'],
  ['--block-now', 'The firewall challenges everybody from the start'],
  ['--clock-at <time>', 'Seconds since the epoch, or an ISO date'],
  ['--clock-frozen', 'The clock stands still'],
]

const accountFlags: Readonly<Record<AccountFlag, AccountSwitches>> = {
  locked: { locked: true },
  captcha: { captcha: true },
  'captcha-after-submission': { captcha: 'after-submission' },
  regional: { region: 'regional' },
}

/** @throws {TypeError} A flag is wrong; the message names it. */
export function setSwitches(emulator: Emulator, values: SwitchValues): void {
  // First of all: a block lasts from the moment that the clock shows.
  naming('--clock-at', () => setClock(emulator.clock, { jump: parsed(values['clock-at']) }))
  if (values['clock-frozen']) emulator.clock.freeze()
  for (const name of values.scenario ?? []) {
    naming('--scenario', () => {
      checkScenario(name)
      emulator.applyScenario(name)
    })
  }
  for (const verb of ['once', 'always'] as const) {
    for (const text of values[verb] ?? []) naming(`--${verb}`, () => order(emulator, verb, text))
  }
  for (const [flag, switches] of Object.entries(accountFlags)) {
    if (!isAccountFlag(flag)) continue
    for (const identity of values[flag] ?? []) naming(`--${flag}`, () => emulator.account(identity).change(switches))
  }
  if (values['block-now']) emulator.firewall.block()
}

/** `refresh:drop=after-commit,delay=20`, or the fault as JSON. */
function order(emulator: Emulator, verb: 'once' | 'always', text: string): void {
  const [, endpoint = '', fault = ''] = /([^:]*):(.+)/su.exec(text) ?? []
  if (fault === '') throw new TypeError('it must be like refresh:drop=after-commit')
  checkEndpoint(endpoint)
  emulator[verb](endpoint, fault.startsWith('{') ? jsonFault(fault) : Object.fromEntries(fault.split(',').map(field)))
}

function jsonFault(text: string): object {
  const fault = parsed(text)
  if (typeof fault !== 'object' || fault === null) throw new TypeError('the fault is not JSON')
  return fault
}

function field(text: string): readonly [string, unknown] {
  const [, name = '', value] = /([^=]*)(?:=(.*))?/su.exec(text) ?? []
  return [name, value === undefined ? true : parsed(value)]
}

function naming(flag: string, act: () => void): void {
  try {
    act()
  } catch (error) {
    throw error instanceof TypeError ? new TypeError(`${flag}: ${error.message}`) : error
  }
}

function isAccountFlag(flag: string): flag is AccountFlag {
  return Object.hasOwn(accountFlags, flag)
}
