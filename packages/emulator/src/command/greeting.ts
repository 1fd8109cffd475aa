/** What the command prints once the emulator runs: addresses, and accounts with their passcodes. */
import type { EmulatorAccount } from '../accounts.ts'
import type { Emulator } from '../emulator.ts'

/** `inspector`: whether there is one to name. */
export function greeting({ authUrl, regionalAuthUrl, ownerApiUrl, accounts }: Emulator, inspector: boolean): string {
  return `
  SSO service     ${authUrl}
  other region    ${regionalAuthUrl}
  owner API       ${ownerApiUrl}
${inspector ? `  inspector       ${authUrl}/_emulator\n` : ''}
${accounts.map(accountLine).join('\n')}

  Passcodes are those of this moment; each works once. Ctrl-C ends the emulator.
`
}

function accountLine(account: EmulatorAccount): string {
  const passcodes = account.factors.map(({ id, name }) => `${name} ${account.passcode(id)}`).join(', ')
  return `  ${account.identity.padEnd(24)}${account.credential.padEnd(18)}${passcodes || account.region}`
}
