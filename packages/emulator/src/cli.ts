#!/usr/bin/env node
/** The command `owner-sso-emulator`: the emulator in a terminal, for a person or a program in any language. */
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import type { EmulatorAccount } from './accounts.ts'
import type { Emulator } from './emulator.ts'
import type { EmulatorOptions } from './options.ts'
import { packageVersion } from './package-version.ts'
import { startEmulator } from './start-emulator.ts'

const HELP = `owner-sso-emulator: the SSO service and a small owner API, on loopback

  --port <n>                      port of the SSO service (default: any free one)
  --owner-api-port <n>            port of the owner API (default: any free one)
  --host <address>                loopback address to listen on (default: 127.0.0.1)
  --allow-remote                  allow a --host that other machines reach
  --regional-at <where>           host-name (default) | port
  --tls                           serve TLS, with a certificate made on the spot
  --ca-file <file>                write the certificate authority there (PEM)
  --mfa-at <where>                token-exchange (default) | form-submission
  --strictness <mode>             document (default) | lenient: legacy clients are served as well
  --code-challenge-encoding <e>   hex-digest (default) | raw-digest | either (default when lenient)
  --rotation <how>                single-use (default) | same | omit
  --reuse <how>                   refuse (default) | revoke-family | grace | grace-stale
  --expires-in <n>                the field expires_in (default: 300)
  --access-token-lifetime <s>     seconds (default: 28800)
  --wrong-credentials <status>    401 (default) | 200
  --no-firewall                   challenge nobody
  --allow-browsers                let real browsers in
  --no-inspector                  no inspector and no control API under /_emulator
  --help, --version

Examples:
  owner-sso-emulator --port 9000 --allow-browsers
  owner-sso-emulator --tls --ca-file ca.pem --mfa-at form-submission
`

const FLAGS = {
  port: { type: 'string' },
  'owner-api-port': { type: 'string' },
  host: { type: 'string' },
  'allow-remote': { type: 'boolean' },
  'regional-at': { type: 'string' },
  tls: { type: 'boolean' },
  'ca-file': { type: 'string' },
  'mfa-at': { type: 'string' },
  strictness: { type: 'string' },
  'code-challenge-encoding': { type: 'string' },
  rotation: { type: 'string' },
  reuse: { type: 'string' },
  'expires-in': { type: 'string' },
  'access-token-lifetime': { type: 'string' },
  'wrong-credentials': { type: 'string' },
  'no-firewall': { type: 'boolean' },
  'allow-browsers': { type: 'boolean' },
  'no-inspector': { type: 'boolean' },
  help: { type: 'boolean' },
  version: { type: 'boolean' },
} as const
const NUMBERS = new Set(['port', 'owner-api-port', 'expires-in', 'access-token-lifetime', 'wrong-credentials'])

try {
  await main()
} catch (error) {
  console.error(explain(error))
  process.exitCode = 1
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: FLAGS })
  if (values.help) return void process.stdout.write(HELP)
  if (values.version) return console.log(packageVersion())

  const emulator = await startEmulator(optionsOf(values))
  if (values['ca-file'] !== undefined && emulator.ca !== undefined) await writeFile(values['ca-file'], emulator.ca)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void emulator.close())
  console.log(greeting(emulator, !values['no-inspector']))
}

/** Flags are the options' names with dashes; what a value may be, the options check themselves. */
function optionsOf(values: Readonly<Record<string, string | boolean | undefined>>): EmulatorOptions {
  const { 'ca-file': _, 'no-firewall': noFirewall, 'no-inspector': noInspector, ...rest } = values
  const options = Object.entries(rest).map(([flag, value]) => {
    const name = flag.replace(/-(.)/gu, (_match, letter: string) => letter.toUpperCase())
    return [name, NUMBERS.has(flag) ? Number(value) : value] as const
  })
  return {
    ...Object.fromEntries(options),
    ...(noFirewall && { firewall: false }),
    ...(noInspector && { inspector: false }),
  }
}

function greeting({ authUrl, regionalAuthUrl, ownerApiUrl, accounts }: Emulator, inspector: boolean): string {
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

/** A sentence for people: what is wrong, and what to do about it. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if ('code' in error && error.code === 'EADDRINUSE') {
    return 'The port is taken. Choose another one with --port, or leave it out for any free one.'
  }
  const flag = /^(?:Unknown option|Option) (\w+)/u.exec(error.message)?.[1]
  if (flag === undefined) return error.message
  return error.message.replace(flag, `--${flag.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)}`)
}
