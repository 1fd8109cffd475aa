#!/usr/bin/env node
/**
 * The command `npx @owner-sso/emulator`: the emulator in a terminal, for a person or a program in any language; and `record` and
 * `replay`, for a login at the real service.
 */
import { writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { greeting, passcodeTeller } from './command/greeting.ts'
import { record, replay } from './command/record.ts'
import { flagOf, helpText, optionFlags, optionsOf } from './command/option-flags.ts'
import { isOptionName } from './options/option-table.ts'
import { checkScenario } from './switches/scenarios.ts'
import { parseEmulatorOptions } from './options/check-options.ts'
import { startWatched } from './start-emulator.ts'
import { isRegistered } from './state/strictness.ts'
import { version } from './version.ts'

const flags = {
  ...optionFlags,
  scenario: { type: 'string', multiple: true },
  'ca-file': { type: 'string' },
  'client-secret-file': { type: 'string' },
  help: { type: 'boolean' },
  version: { type: 'boolean' },
} as const

const [command, ...args] = process.argv.slice(2)
const isRecording = command === 'record' || command === 'replay'

// It goes on where nobody reads what it prints (`| head`).
process.stdout.on('error', () => undefined)

try {
  if (command === 'record') await record(args)
  else if (command === 'replay') await replay(args)
  else await main()
} catch (error) {
  console.error(`@owner-sso/emulator: ${explain(error)}`)
  if (error instanceof TypeError)
    console.error(`npx @owner-sso/emulator ${isRecording ? `${command} ` : ''}--help says what it takes.`)
  // What keeps it from starting is in how it was called; `owner-sso` ends with the same.
  process.exitCode = 2
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: flags })
  if (values.help) return void process.stdout.write(helpText())
  if (values.version) return console.log(version)

  const options = optionsOf(values)
  const caFile = values['ca-file'] === undefined ? undefined : resolve(values['ca-file'])
  const settings = parseEmulatorOptions(options)
  const secretFile = values['client-secret-file'] === undefined ? undefined : resolve(values['client-secret-file'])
  if (isRegistered(settings) !== (secretFile !== undefined))
    throw new TypeError('Option service registered and --client-secret-file need each other')
  if (caFile !== undefined && !options.tls) throw new TypeError('Option caFile needs --tls')
  const tell = passcodeTeller((line) => console.log(line))
  const emulator = await startWatched(options, (exchange) => tell(exchange, emulator))
  try {
    for (const name of values.scenario ?? []) {
      checkScenario(name)
      emulator.applyScenario(name)
    }
    if (secretFile !== undefined) await writeFile(secretFile, `${settings.clientSecret}\n`, { mode: 0o600 })
    if (caFile !== undefined && emulator.ca !== undefined) await writeFile(caFile, emulator.ca)
  } catch (error) {
    await emulator.close()
    throw error
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void emulator.close())
  console.log(greeting(emulator, settings, { secretFile, caFile }))
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { syscall, code, port, address, path }: NodeJS.ErrnoException & { port?: number; address?: string } = error
  if (syscall === 'listen') {
    const problem =
      code === 'EADDRINUSE' ? `Port ${port} is taken` : `Port ${port} of ${address} can't be listened on (${code})`
    const flag = isRecording ? '--port' : '--port or --owner-api-port'
    return `${problem}. Choose another ${flag}, or leave it out for any free one.`
  }
  if (path !== undefined) return `${path} can't be written (${code}).`
  const option = /^(?:Unknown option|Option) (\w+)/u.exec(error.message)?.[1]
  const message = option === undefined ? error.message : error.message.replace(option, flagOf(option))
  // Whatever else it names is an option as well, under the name that it has in code.
  return message.replaceAll(/\b[a-z]+(?:[A-Z][a-z]+)+\b/gu, (name) => (isOptionName(name) ? flagOf(name) : name))
}
