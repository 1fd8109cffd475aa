/**
 * The command line as commander sees it: the commands, given a shape and a voice.
 */
import { Command, CommanderError, Option } from 'commander'
import manifest from '../../package.json' with { type: 'json' }
import { exitCodes, usageError } from '../failure/command-error.ts'
import type { Command as DescribedCommand } from '../commands/command.ts'
import { afterHelp } from './help-text.ts'
import { printData, printNote } from '../terminal/output.ts'
import { readSettings } from '../settings/settings.ts'
import { unknownVariables, type SharedOptions, sharedOptions } from '../settings/setting-table.ts'
import { type Option as DeclaredOption, type OptionTable, dashed } from '../options/option.ts'

/** All commands, in the order of the help. One is loaded by a call of it, all of them by a call for help. */
const loaders: Readonly<Record<string, () => Promise<{ readonly command: DescribedCommand }>>> = {
  login: () => import('../commands/login.ts'),
  token: () => import('../commands/token.ts'),
  status: () => import('../commands/status.ts'),
  why: () => import('../commands/why.ts'),
  refresh: () => import('../commands/refresh.ts'),
  logout: () => import('../commands/logout.ts'),
  accounts: () => import('../commands/accounts.ts'),
  import: () => import('../commands/import.ts'),
  export: () => import('../commands/export.ts'),
  copy: () => import('../commands/copy.ts'),
  rekey: () => import('../commands/rekey.ts'),
  keep: () => import('../commands/keep.ts'),
  proxy: () => import('../commands/proxy.ts'),
  broker: () => import('../commands/broker.ts'),
  setup: () => import('../commands/setup.ts'),
  doctor: () => import('../commands/doctor.ts'),
  emulator: () => import('../commands/emulator.ts'),
}

/** Those whose names were given; else, for help and advice, all. */
async function commandsFor(argv: readonly string[]): Promise<readonly DescribedCommand[]> {
  const named = Object.entries(loaders).filter(([name]) => argv.includes(name))
  const chosen = named.length > 0 ? named : Object.entries(loaders)
  return Promise.all(chosen.map(async ([, load]) => (await load()).command))
}

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
  addOptions(program, sharedOptions)
  for (const called of await commandsFor(argv)) {
    const parsed = shape(program.command([called.name, called.args].join(' ').trim()), collect)
    describe(parsed, called).action(async () => {
      exitCode = (await runCommand(parsed, called)) ?? exitCodes.ok
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

async function runCommand(parsed: Command, called: DescribedCommand): Promise<number | void> {
  const { passesOptionsOn, examinesSettings } = called
  const shared = parsed.optsWithGlobals<SharedOptions>()
  if (!passesOptionsOn) refuseDebugging(shared.force ?? false)
  const unknown = examinesSettings ? [] : unknownVariables(process.env)
  if (unknown.length > 0) printNote(...unknown.map(({ problem, fix }) => `${problem} ${fix}`))
  return called.run({ settings: readSettings(shared, examinesSettings), options: parsed.opts(), args: parsed.args })
}

function shape(command: Command, collect: (text: string) => void): Command {
  return command
    .exitOverride()
    .allowExcessArguments(false)
    .configureOutput({ writeOut: collect, writeErr: collect, outputError: () => undefined })
}

function describe(
  parsed: Command,
  { summary, description, options, passesOptionsOn, examples }: DescribedCommand,
): Command {
  parsed.summary(summary).description(description).helpOption('-h, --help', 'show this help')
  addOptions(parsed, options)
  if (passesOptionsOn) parsed.allowUnknownOption().helpOption(false)
  const lines = examples.map(([line, comment]) => `  ${line}   # ${comment}`)
  if (lines.length > 0) parsed.addHelpText('after', `\nExamples:\n${lines.join('\n')}`)
  parsed.addHelpText('after', '\nOptions of every command: owner-sso --help')
  return parsed
}

function addOptions(to: Command, table: OptionTable): void {
  for (const [name, declared] of Object.entries(table)) to.addOption(optionOf(name, declared))
}

function optionOf(name: string, declared: DeclaredOption): Option {
  const { kind, placeholder = '', help } = declared
  const option = new Option(`${dashed(name, declared)} ${placeholder}`.trim(), help)
  if (kind !== 'values') return option
  return option.argParser((value: string, previous: readonly string[] | undefined) => [...(previous ?? []), value])
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
  const [called, ...others] = await commandsFor(argv)
  const [, , first, topic] = argv
  if (code === 'commander.help' && first === 'help' && topic !== undefined) {
    throw usageError(`Unknown command '${topic}'.`, 'See owner-sso --help.')
  }
  if (code === 'commander.help') {
    printNote(...help.split('\n'))
    return exitCodes.usage
  }
  // Not shown: beside an e-mail, a password with such a sign in it may be among the arguments.
  if (code === 'commander.excessArguments' && argv.some((word) => word.includes('@'))) {
    throw usageError('This command takes no e-mail as its argument.', 'Name an account with --account E-MAIL.')
  }
  const [problem = '', hint = ''] = message.replace(/^error: /u, '').split('\n')
  const text = `${problem.charAt(0).toUpperCase()}${problem.slice(1).replace(/\.$/u, '')}.`
  const command = others.length === 0 && called !== undefined ? `owner-sso ${called.name}` : 'owner-sso'
  throw usageError(text, hint !== '' ? hint.replaceAll(/[()]/gu, '') : `See ${command} --help.`)
}

const loud = /^(?:\*|https?|http2|tls|net|stream|undici|fetch|follow-redirects|axios)/iu

/**
 * Node's own debugging output prints requests, with passwords and tokens in them: it is refused.
 *
 * @throws CommandError unless `force` says that this is wanted
 */
function refuseDebugging(force: boolean, env: NodeJS.ProcessEnv = process.env): void {
  if (force) return
  for (const variable of ['NODE_DEBUG', 'DEBUG']) {
    const sections = (env[variable] ?? '').split(/[\s,]+/u)
    if (!sections.some((section) => loud.test(section))) continue
    throw usageError(
      `${variable} is set: Node would print passwords and tokens on this terminal.`,
      `Unset ${variable}, or add --force if nobody else sees the output.`,
    )
  }
}
