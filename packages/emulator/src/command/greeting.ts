/**
 * What the command prints for a person: where everything is, who may sign in, and how a program is told of it.
 */
import type { EmulatorAccount } from '../state/accounts.ts'
import type { Emulator } from '../switches/emulator.ts'
import type { Exchange } from '../journal/exchange.ts'
import { isRegistered, registeredCallback } from '../state/strictness.ts'
import type { EmulatorSettings } from '../options/check-options.ts'

interface Files {
  readonly secretFile: string | undefined
  readonly caFile: string | undefined
}

export function greeting(emulator: Emulator, settings: EmulatorSettings, files: Files): string {
  const { authUrl, regionalAuthUrl, ownerApiUrl, tokenUrl, accounts } = emulator
  const isUntrusted = authUrl.startsWith('https:') && files.caFile === undefined
  return `
  SSO service     ${authUrl}
  other region    ${regionalAuthUrl}
  owner API       ${ownerApiUrl}
${tokenUrl === authUrl ? '' : `  token endpoint  ${tokenUrl}\n`}${settings.inspector ? `  start page      ${authUrl}/\n  inspector       ${authUrl}/_emulator\n` : ''}${isUntrusted ? '  certificates    are its own: with --ca-file ca.pem, a program can trust them\n' : ''}
${accounts.map(accountLine).join('\n')}

  Paste into your program's terminal:

${environmentOf(emulator, settings, files).map(assignment).join('\n')}

  A passcode is shown here when a sign-in asks for one. Ctrl-C ends the emulator.
`
}

/** The passcodes of this moment, when a sign-in asks for one: a minute later they are others. */
export function passcodeTeller(print: (line: string) => void): (exchange: Exchange, emulator: Emulator) => void {
  let lastTold = 0
  return ({ id, endpoint, answer, identity }, { accounts }) => {
    if (endpoint !== 'mfa-factors' || answer?.status !== 200 || id <= lastTold) return
    const account = accounts.find((each) => each.identity.toLowerCase() === identity?.trim().toLowerCase())
    if (account === undefined) return
    lastTold = id
    print(`  ${account.identity} is asked for a passcode: ${passcodesOf(account)}`)
  }
}

function accountLine(account: EmulatorAccount): string {
  const factors = account.factors.map(({ name }) => name).join(', ')
  const special = factors ? `passcode of ${factors}` : account.region === 'home' ? '' : 'lives in the other region'
  return `  ${account.identity.padEnd(24)}${account.credential.padEnd(18)}${special}`.trimEnd()
}

function passcodesOf(account: EmulatorAccount): string {
  return account.factors.map(({ id, name }) => `${name} ${account.passcode(id)}`).join(', ')
}

function environmentOf(
  { authUrl, regionalAuthUrl, ownerApiUrl, tokenUrl, regionalTokenUrl, accounts }: Emulator,
  settings: EmulatorSettings,
  { secretFile, caFile }: Files,
): [string, string][] {
  const [first] = accounts
  const tokenUrls = JSON.stringify({ [authUrl]: tokenUrl, [regionalAuthUrl]: regionalTokenUrl })
  return [
    ['OWNER_SSO_AUTH_URL', authUrl],
    ...(settings.service === 'document' ? [] : [entry('OWNER_SSO_SERVICE', settings.service)]),
    ...(isRegistered(settings)
      ? [
          entry('OWNER_SSO_CLIENT_ID', settings.clientId),
          entry('OWNER_SSO_CLIENT_SECRET_FILE', secretFile ?? ''),
          entry('OWNER_SSO_AUDIENCE', ownerApiUrl),
          entry('OWNER_SSO_REDIRECT_URI', settings.redirectUris?.[0] ?? registeredCallback),
        ]
      : []),
    ['OWNER_SSO_REGIONAL_AUTH_URLS', regionalAuthUrl],
    ...(tokenUrl === authUrl ? [] : [entry('OWNER_SSO_TOKEN_URL', tokenUrls)]),
    ['OWNER_SSO_API_URL', ownerApiUrl],
    ...(first ? [entry('OWNER_SSO_ACCOUNT', first.identity), entry('OWNER_SSO_CREDENTIAL', first.credential)] : []),
    ...(caFile === undefined ? [] : [entry('NODE_EXTRA_CA_CERTS', caFile)]),
  ]
}

const entry = (name: string, value: string): [string, string] => [name, value]

/** For PowerShell on Windows, elsewhere for a POSIX shell. */
function assignment([name, value]: readonly [string, string]): string {
  if (process.platform === 'win32') return `    $env:${name} = '${value.replaceAll("'", "''")}'`
  const plain = /^[\w@%+=:,./-]+$/u.test(value)
  return `    export ${name}=${plain ? value : `'${value.replaceAll("'", "'\\''")}'`}`
}
