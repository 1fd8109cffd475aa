/**
 * The flags that set switches once the emulator runs: scenarios, faults, accounts, the firewall, the clock.
 */
import type { ParseArgsConfig } from 'node:util'
import { setClock } from '../control/orders.ts'
import type { AccountSwitches } from '../options/account-options.ts'
import type { Emulator } from '../switches/emulator.ts'
import { checkEndpoint } from '../faults/fault-checks.ts'
import { checkScenario } from '../switches/scenarios.ts'
import { parsed } from './option-flags.ts'

interface SwitchFlag {
  readonly name: string
  /** Stands for the value; left out where there is none. A flag that has one can be repeated. */
  readonly placeholder?: string
  readonly about: string
  readonly set: (emulator: Emulator, value: string) => void
}

/** In the order in which they are set. A block lasts from the moment that the clock shows, so that the clock comes first. */
const table: readonly SwitchFlag[] = [
  {
    name: 'clock-at',
    placeholder: '<time>',
    about: 'Seconds since the epoch, or an ISO date',
    set: ({ clock }, time) => setClock(clock, { jump: parsed(time) }),
  },
  { name: 'clock-frozen', about: 'The clock stands still', set: ({ clock }) => clock.freeze() },
  {
    name: 'scenario',
    placeholder: '<name>',
    about: 'A scenario of the list below; repeat it for several',
    set(emulator, name) {
      checkScenario(name)
      emulator.applyScenario(name)
    },
  },
  {
    name: 'once',
    placeholder: '<endpoint>:<fault>',
    about: 'The next request meets the fault: refresh:drop=after-commit',
    set: (emulator, text) => order(emulator, 'once', text),
  },
  {
    name: 'always',
    placeholder: '<endpoint>:<fault>',
    about: 'Every request does: token:status=503,delay=2000',
    set: (emulator, text) => order(emulator, 'always', text),
  },
  accountFlag('locked', 'This account is locked', { locked: true }),
  accountFlag('captcha', 'This account meets a captcha', { captcha: true }),
  accountFlag('captcha-after-submission', 'It does once its form was submitted', { captcha: 'after-submission' }),
  accountFlag('regional', 'This account lives in the other region', { region: 'regional' }),
  {
    name: 'block-now',
    about: 'The firewall challenges everybody from the start',
    set: ({ firewall }) => firewall.block(),
  },
]

/** For `parseArgs`. */
export const switchFlags: NonNullable<ParseArgsConfig['options']> = Object.fromEntries(
  table.map(({ name, placeholder }) => [
    name,
    placeholder === undefined ? { type: 'boolean' } : { type: 'string', multiple: true },
  ]),
)

export const switchFlagHelp: readonly (readonly [flag: string, about: string])[] = table.map(
  ({ name, placeholder, about }) => [placeholder === undefined ? `--${name}` : `--${name} ${placeholder}`, about],
)

/** @throws {TypeError} A flag is wrong; the message names it. */
export function setSwitches(emulator: Emulator, values: Readonly<Record<string, unknown>>): void {
  for (const { name, set } of table) {
    const given = values[name] ?? []
    for (const value of Array.isArray(given) ? given : [given]) {
      try {
        set(emulator, String(value))
      } catch (error) {
        throw error instanceof TypeError ? new TypeError(`--${name}: ${error.message}`) : error
      }
    }
  }
}

function accountFlag(name: string, about: string, switches: AccountSwitches): SwitchFlag {
  return { name, placeholder: '<identity>', about, set: (emulator, who) => emulator.account(who).change(switches) }
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
