/**
 * All commands, in the order of the help, each with its work. That is loaded by a call of the command alone.
 */
import * as manual from '../manual/manual.ts'
import type { Settings } from '../settings/settings.ts'
import type { Command, Work } from '../manual/command.ts'
import type { OptionsOf, OptionTable } from '../options/option.ts'

/** What commander has read off the command line. */
interface Parsed {
  readonly args: readonly string[]
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as commander declares it
  opts<Options extends OptionsOf<OptionTable>>(): Options
}

export interface WorkingCommand extends Command {
  readonly run: (parsed: Parsed, settings: Settings) => Promise<number | void>
}

export const commands: readonly WorkingCommand[] = [
  working(manual.login, () => import('../sign-in/login.ts')),
  working(manual.token, () => import('../tokens/token.ts')),
  working(manual.status, () => import('../status/status.ts')),
  working(manual.why, () => import('../status/why.ts')),
  working(manual.refresh, () => import('../tokens/refresh.ts')),
  working(manual.logout, () => import('../tokens/logout.ts')),
  working(manual.accounts, () => import('../tokens/accounts.ts')),
  working(manual.importTokens, () => import('../moving/import.ts')),
  working(manual.exportTokens, () => import('../moving/export.ts')),
  working(manual.copy, () => import('../moving/copy.ts')),
  working(manual.rekey, () => import('../moving/rekey.ts')),
  working(manual.stores, () => import('../moving/stores.ts')),
  working(manual.keep, () => import('../tokens/keep.ts')),
  working(manual.proxy, () => import('../proxy/proxy.ts')),
  working(manual.broker, () => import('../broker/broker.ts')),
  working(manual.setup, () => import('../setup/setup.ts')),
  working(manual.doctor, () => import('../doctor/doctor.ts')),
  working(manual.emulator, () => import('../emulator/emulator.ts')),
  working(manual.completion, async () => (await import('../completion/completion.ts')).completing(commands)),
]

/** The types tie the options that a command declares to those that its work reads. */
function working<Options extends OptionTable>(
  command: Command<Options>,
  load: () => Promise<Work<Command<Options>>>,
): WorkingCommand {
  return {
    ...command,
    async run(parsed, settings) {
      const { run } = await load()
      return run({ settings, options: parsed.opts<OptionsOf<Options>>(), args: parsed.args })
    },
  }
}
