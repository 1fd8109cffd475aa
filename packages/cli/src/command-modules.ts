/**
 * What each command runs. A module is loaded by the call of its command alone.
 */
import type { CommandModule } from './call.ts'
import type { CommandName } from './command-table.ts'

export const commandModules: Readonly<Record<CommandName, () => Promise<CommandModule>>> = {
  login: () => import('./commands/login.ts'),
  token: () => import('./commands/token.ts'),
  status: () => import('./commands/status.ts'),
  refresh: () => import('./commands/refresh.ts'),
  logout: () => import('./commands/logout.ts'),
  accounts: () => import('./commands/accounts.ts'),
  import: () => import('./commands/import.ts'),
  export: () => import('./commands/export.ts'),
  copy: () => import('./commands/copy.ts'),
  rekey: () => import('./commands/rekey.ts'),
  stores: () => import('./commands/stores.ts'),
  keep: () => import('./commands/keep.ts'),
  proxy: () => import('./commands/proxy.ts'),
  broker: () => import('./commands/broker.ts'),
  setup: () => import('./commands/setup.ts'),
  doctor: () => import('./commands/doctor.ts'),
  emulator: () => import('./commands/emulator.ts'),
  completion: () => import('./commands/completion.ts'),
}
