/**
 * The flags that set switches once the emulator runs: scenarios and faults. Each can be repeated.
 */
import type { ParseArgsConfig } from 'node:util'
import type { Emulator } from '../switches/emulator.ts'
import { checkEndpoint } from '../faults/fault-checks.ts'
import { checkScenario } from '../switches/scenarios.ts'
import { parsed } from './option-flags.ts'

interface SwitchFlag {
  /** Stands for the value. */
  readonly placeholder: string
  readonly about: string
  readonly set: (emulator: Emulator, value: string) => void
}

const table: Readonly<Record<string, SwitchFlag>> = {
  scenario: {
    placeholder: '<name>',
    about: 'A scenario of the list below; repeat it for several',
    set(emulator, name) {
      checkScenario(name)
      emulator.applyScenario(name)
    },
  },
  once: {
    placeholder: '<endpoint>:<fault>',
    about: 'The next request meets the fault: refresh:drop=after-commit',
    set: (emulator, text) => emulator.once(...order(text)),
  },
  always: {
    placeholder: '<endpoint>:<fault>',
    about: 'Every request does: token:status=503,delay=2000',
    set: (emulator, text) => emulator.always(...order(text)),
  },
}

/** For `parseArgs`. */
export const switchFlags: NonNullable<ParseArgsConfig['options']> = Object.fromEntries(
  Object.keys(table).map((name) => [name, { type: 'string', multiple: true }]),
)

export const switchFlagHelp: readonly (readonly [flag: string, about: string])[] = Object.entries(table).map(
  ([name, { placeholder, about }]) => [`--${name} ${placeholder}`, about],
)

/** @throws {TypeError} A flag is wrong; the message names it. */
export function setSwitches(
  emulator: Emulator,
  values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>,
): void {
  for (const [name, { set }] of Object.entries(table)) {
    for (const value of [values[name] ?? []].flat()) {
      try {
        set(emulator, `${value}`)
      } catch (error) {
        throw error instanceof TypeError ? new TypeError(`--${name}: ${error.message}`) : error
      }
    }
  }
}

/** `refresh:drop=after-commit,delay=20`, or the fault as JSON. */
function order(text: string): Parameters<Emulator['once']> {
  const [, endpoint = '', fault = ''] = /([^:]*):(.+)/su.exec(text) ?? []
  if (fault === '') throw new TypeError('it must be like refresh:drop=after-commit')
  checkEndpoint(endpoint)
  return [endpoint, fault.startsWith('{') ? jsonFault(fault) : Object.fromEntries(fault.split(',').map(field))]
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
