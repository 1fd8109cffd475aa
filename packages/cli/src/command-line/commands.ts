/**
 * All commands, in the order of the help. One is loaded by a call of it, all of them by a call for help.
 */
import type { Command } from '../commands/command.ts'

const loaders: Readonly<Record<string, () => Promise<{ readonly command: Command }>>> = {
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
export async function commandsFor(argv: readonly string[]): Promise<readonly Command[]> {
  const names = Object.keys(loaders)
  const named = names.filter((name) => argv.includes(name))
  return Promise.all((named.length > 0 ? named : names).map(async (name) => (await loaders[name]?.())?.command)).then(
    (commands) => commands.filter((command) => command !== undefined),
  )
}
