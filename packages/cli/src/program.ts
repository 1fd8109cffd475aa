/**
 * The command line as commander sees it: the table of commands, given a shape and a voice.
 */
import { Command, CommanderError, Option } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import type { CommandOptions } from './call.ts'
import { exitCodes, usageError } from './command-error.ts'
import { type CommandEntry, commandTable, globalOptions } from './command-table.ts'
import { refuseDebugging } from './debug-guard.ts'
import { afterHelp } from './help-text.ts'
import { type GlobalOptions, readSettings } from './settings.ts'

/**
 * @param argv - as `process.argv`
 * @returns the exit code
 * @throws CommandError for wrong usage; whatever the command throws
 */
export async function runProgram(argv: readonly string[]): Promise<number> {
  let exitCode: number = exitCodes.ok
  const program = shape(new Command('owner-sso'))
    .description('Sign a vehicle owner in, and hand scripts a valid access token.')
    .usage('<command> [options]')
    .version(manifest.version, '--version', 'print the version')
    .addHelpText('after', afterHelp)
  for (const option of globalOptions) program.addOption(optionOf(option))
  for (const entry of commandTable) {
    const command = shape(program.command(entry.args === undefined ? entry.name : `${entry.name} ${entry.args}`))
    describe(command, entry).action(async () => {
      exitCode = await runCommand(command, entry)
    })
  }
  try {
    await program.parseAsync(argv)
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return endOfParsing(error)
    throw error
  }
}

async function runCommand(command: Command, { load, passesOptionsOn }: CommandEntry): Promise<number> {
  const options: GlobalOptions & CommandOptions = command.optsWithGlobals()
  if (!passesOptionsOn) refuseDebugging(options.force ?? false)
  const { run } = await load()
  return run({ settings: readSettings(options), options, args: command.args })
}

function shape(command: Command): Command {
  return command
    .exitOverride()
    .allowExcessArguments(false)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: () => undefined })
}

function describe(command: Command, entry: CommandEntry): Command {
  command.summary(entry.summary).description(entry.description)
  for (const option of entry.options ?? []) command.addOption(optionOf(option))
  if (entry.passesOptionsOn) command.allowUnknownOption().helpOption(false)
  if (entry.examples.length > 0) {
    const lines = entry.examples.map(([line, comment]) => (comment === '' ? `  ${line}` : `  ${line}   # ${comment}`))
    command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
  }
  return command
}

function optionOf([flags, description]: readonly [string, string]): Option {
  const option = new Option(flags, description)
  if (flags.startsWith('--regional-auth-url')) {
    option.argParser((value: string, previous: readonly string[] | undefined) => [...(previous ?? []), value])
  }
  return option
}

/** Help and version were printed; everything else is the person's mistake. */
function endOfParsing({ code, exitCode, message }: CommanderError): number {
  if (exitCode === 0) return exitCodes.ok
  // No command at all: the help was printed, on standard error.
  if (code === 'commander.help') return exitCodes.usage
  const [problem = '', hint = ''] = message.replace(/^error: /u, '').split('\n')
  const text = `${problem.charAt(0).toUpperCase()}${problem.slice(1)}.`
  throw usageError(text, hint === '' ? 'See owner-sso --help.' : hint.replaceAll(/[()]/gu, ''))
}
