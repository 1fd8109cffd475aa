/**
 * The command line as commander sees it: the table of commands, given a shape and a voice.
 */
import { Command, CommanderError, Option } from 'commander'
import manifest from '../package.json' with { type: 'json' }
import type { CommandOptions } from './call.ts'
import { exitCodes, usageError } from './command-error.ts'
import { commandModules } from './command-modules.ts'
import { type CommandEntry, commandTable, globalOptions } from './command-table.ts'
import { refuseDebugging } from './debug-guard.ts'
import { afterHelp } from './help-text.ts'
import { printData, printNote } from './output.ts'
import { type GlobalOptions, readSettings } from './settings.ts'

/**
 * @param argv - as `process.argv`
 * @returns the exit code
 * @throws CommandError for wrong usage; whatever the command throws
 */
export async function runProgram(argv: readonly string[]): Promise<number> {
  let exitCode: number = exitCodes.ok
  let help = ''
  const collect = (text: string): void => {
    help += text
  }
  const program = shape(new Command('owner-sso'), collect)
    .description('Sign a vehicle owner in, and hand scripts a valid access token.')
    .usage('<command> [options]')
    .helpOption('-h, --help', 'show this help, or that of a command')
    .helpCommand('help [command]', 'show the help of a command')
    .version(manifest.version, '--version', 'print the version')
    .addHelpText('after', afterHelp)
  for (const option of globalOptions) program.addOption(optionOf(option))
  for (const entry of entriesFor(argv)) {
    const command = shape(program.command([entry.name, entry.args].join(' ').trim()), collect)
    describe(command, entry).action(async () => {
      exitCode = await runCommand(command, entry)
    })
  }
  try {
    await program.parseAsync(argv)
    return exitCode
  } catch (error) {
    if (error instanceof CommanderError) return endOfParsing(error, help.trimEnd(), argv)
    throw error
  }
}

/** Those whose names were given, since shaping all of them takes milliseconds; else, for help and advice, all. */
function entriesFor(argv: readonly string[]): readonly CommandEntry[] {
  const named = commandTable.filter(({ name }) => argv.includes(name))
  return named.length > 0 ? named : commandTable
}

async function runCommand(
  command: Command,
  { name, passesOptionsOn, examinesSettings }: CommandEntry,
): Promise<number> {
  const options: GlobalOptions & CommandOptions = command.optsWithGlobals()
  if (!passesOptionsOn) refuseDebugging(options.force ?? false)
  const { run } = await commandModules[name]()
  return run({ settings: readSettings(options, examinesSettings), options, args: command.args })
}

function shape(command: Command, collect: (text: string) => void): Command {
  return command
    .exitOverride()
    .allowExcessArguments(false)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: collect, writeErr: collect, outputError: () => undefined })
}

function describe(command: Command, entry: CommandEntry): Command {
  command.summary(entry.summary).description(entry.description).helpOption('-h, --help', 'show this help')
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

/** Help or the version was asked for; everything else is the person's mistake. */
async function endOfParsing(
  { code, exitCode, message }: CommanderError,
  help: string,
  argv: readonly string[],
): Promise<number> {
  if (exitCode === 0) {
    await printData(...help.split('\n'))
    return exitCodes.ok
  }
  const [entry, ...others] = entriesFor(argv)
  const [, , first, topic] = argv
  if (code === 'commander.help' && first === 'help' && topic !== undefined) {
    throw usageError(`Unknown command '${topic}'.`, 'See owner-sso --help.')
  }
  // No command at all.
  if (code === 'commander.help') {
    printNote(...help.split('\n'))
    return exitCodes.usage
  }
  const [problem = '', hint = ''] = message.replace(/^error: /u, '').split('\n')
  const text = `${problem.charAt(0).toUpperCase()}${problem.slice(1).replace(/\.$/u, '')}.`
  const command = others.length === 0 && entry !== undefined ? `owner-sso ${entry.name}` : 'owner-sso'
  throw usageError(text, isLikely(hint, problem) ? hint.replaceAll(/[()]/gu, '') : `See ${command} --help.`)
}

/** commander takes `bogus` for `logout`. Whoever mistypes a name seldom mistypes its first letter. */
function isLikely(hint: string, problem: string): boolean {
  const [guessed] = /(?<=mean (?:one of )?-*)\w/u.exec(hint) ?? []
  const [typed] = /(?<='-*)\w/u.exec(problem) ?? []
  return guessed !== undefined && guessed === typed
}
