/**
 * All commands, in the order of the help, each with its work. That is loaded by a call of the command alone.
 */
import { accounts } from '../commands/accounts.ts'
import { broker } from '../commands/broker.ts'
import { completion } from '../commands/completion.ts'
import { copy } from '../commands/copy.ts'
import { doctor } from '../commands/doctor.ts'
import { emulator } from '../commands/emulator.ts'
import { exportTokens } from '../commands/export.ts'
import { importTokens } from '../commands/import.ts'
import { keep } from '../commands/keep.ts'
import { login } from '../commands/login.ts'
import { logout } from '../commands/logout.ts'
import { proxy } from '../commands/proxy.ts'
import { refresh } from '../commands/refresh.ts'
import { rekey } from '../commands/rekey.ts'
import { setup } from '../commands/setup.ts'
import { status } from '../commands/status.ts'
import { stores } from '../commands/stores.ts'
import { token } from '../commands/token.ts'
import type { Settings } from '../settings/settings.ts'
import type { Command, Work } from './command.ts'
import type { OptionsOf, OptionTable } from './option.ts'

/** What commander has read off the command line. */
interface Parsed {
  readonly args: readonly string[]
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- as commander declares it
  opts<Options extends OptionsOf<OptionTable>>(): Options
}

export interface WorkingCommand extends Command {
  readonly run: (parsed: Parsed, settings: Settings) => Promise<number>
}

export const commands: readonly WorkingCommand[] = [
  working(login, () => import('../sign-in/login.ts')),
  working(token, () => import('../tokens/token.ts')),
  working(status, () => import('../status/status.ts')),
  working(refresh, () => import('../tokens/refresh.ts')),
  working(logout, () => import('../tokens/logout.ts')),
  working(accounts, () => import('../tokens/accounts.ts')),
  working(importTokens, () => import('../moving/import.ts')),
  working(exportTokens, () => import('../moving/export.ts')),
  working(copy, () => import('../stores/copy.ts')),
  working(rekey, () => import('../stores/rekey.ts')),
  working(stores, () => import('../stores/stores.ts')),
  working(keep, () => import('../tokens/keep.ts')),
  working(proxy, () => import('../proxy/proxy.ts')),
  working(broker, () => import('../broker/broker.ts')),
  working(setup, () => import('../setup/setup.ts')),
  working(doctor, () => import('../doctor/doctor.ts')),
  working(emulator, () => import('../emulator/emulator.ts')),
  working(completion, async () => (await import('../completion/completion.ts')).completing(commands)),
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
