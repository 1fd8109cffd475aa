import { expect, it } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { startEmulator, type Emulator, type EmulatorOptions } from '@owner-sso/emulator'
import { isAccepted } from './legacy/accepted.ts'
import { curlClient } from './legacy/curl-client.ts'
import { hintlessClient } from './legacy/hintless-client.ts'
import { npmClient } from './legacy/npm-client.ts'
import { openidClient } from './legacy/openid-login.ts'
import { ownClient } from './legacy/own-client.ts'
import type { PeerClient } from './legacy/peer-client.ts'
import { regexClient } from './legacy/regex-client.ts'
import { regionClient } from './legacy/region-client.ts'
import { tradingClient } from './legacy/trading-client.ts'

const DOCUMENT = readFileSync(new URL('../../../docs/reference/compatibility.md', import.meta.url), 'utf8')

/** What the one command of the document says. */
const SETTING: EmulatorOptions = optionsOf(/^ {4}npx @owner-sso\/emulator (.*--mfa-at .*)$/mu.exec(DOCUMENT)?.[1] ?? '')

/** By their names in the table. The one from npm speaks HTTPS alone. */
const CLIENTS: Readonly<Record<string, readonly [PeerClient, EmulatorOptions?]>> = {
  '`@owner-sso/core`': [ownClient],
  curl: [curlClient],
  'a legacy client from npm': [npmClient, { tls: true }],
  'openid-client': [openidClient],
  'first matches': [regexClient],
  'templates and trade': [tradingClient],
  'region first': [regionClient],
  'no hint': [hintlessClient],
}
const LOGINS = ['plain@example.com', 'mfa@example.com', 'regional@example.com'] as const

interface Outcome {
  readonly signedIn: boolean
  /** Where the client refreshed, if the owner API takes what it got there. */
  readonly refreshedAt: string
  /** The client found every vehicle, before the refresh and after it. */
  readonly called: boolean
}

/** What the service's own log says of a login; the client's word counts for its list of vehicles alone. */
async function run(client: PeerClient, options: EmulatorOptions, identity: string): Promise<Outcome> {
  await using emulator = await startEmulator({ ...SETTING, ...options })
  const { credential, factors } = emulator.account(identity)
  const passcode = factors.length > 0 ? emulator.account(identity).passcode() : ''
  const { token, fresh, vehicles } = await client(emulator, { identity, credential, passcode })
  const { codeExchanges, tokenRefreshes, passcodeChecks, replays } = emulator.counters
  expect({ codeExchanges, tokenRefreshes, passcodeChecks, replays }).toEqual({
    codeExchanges: 1,
    tokenRefreshes: 1,
    passcodeChecks: factors.length > 0 ? 1 : 0,
    replays: 0,
  })
  return {
    signedIn: await isAccepted(emulator, token),
    refreshedAt: token !== fresh && (await isAccepted(emulator, fresh)) ? refreshPath(emulator) : '',
    called: vehicles.join() === 'Daily,Weekend,Daily,Weekend',
  }
}

/** The last request for tokens that was answered. */
function refreshPath({ requests }: Emulator): string {
  return requests.findLast(({ path, status }) => path.endsWith('/token') && status === 200)?.path ?? ''
}

async function rowOf(name: string): Promise<string[]> {
  const [client, options = {}] = CLIENTS[name] ?? []
  if (!client) return [name, 'no such client']
  const outcomes: Outcome[] = []
  for (const identity of LOGINS) outcomes.push(await run(client, options, identity))
  const said = (every: boolean): string => (every ? 'yes' : 'no')
  const [place = '', ...others] = new Set(outcomes.map(({ refreshedAt }) => refreshedAt))
  return [
    name,
    ...outcomes.map(({ signedIn }) => said(signedIn)),
    others.length === 0 && place !== '' ? `at \`${place.replace('/en_us', '')}\`` : 'no',
    said(outcomes.every(({ called }) => called)),
  ]
}

/** Flags as the options they stand for: `--mfa-at form-submission` is `mfaAt: 'form-submission'`. */
function optionsOf(flags: string): EmulatorOptions {
  const pairs = [...flags.matchAll(/--([\w-]+)(?: ([\w-]+))?/gu)]
  const camelCase = (name: string): string => name.replaceAll(/-(\w)/gu, (_, letter: string) => letter.toUpperCase())
  return Object.fromEntries(pairs.map(([, name = '', value]) => [camelCase(name), value ?? true]))
}

/** The rows of the table, each a list of its cells. */
function documentedRows(): string[][] {
  const [, table = ''] = /^\| client +\| plain .*\n\|[- |]+\n((?:\|.*\n)+)/mu.exec(DOCUMENT) ?? []
  return table
    .trim()
    .split('\n')
    .map((row) => row.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()))
}

const rows = documentedRows()

it('the table names every client that this test runs', () => {
  expect(rows.map(([name]) => name)).toEqual(Object.keys(CLIENTS))
})

it.each(rows)(
  '%s signs in as the table says: unchanged, at the emulator that the one command starts',
  async (...row) => {
    expect(await rowOf(row[0] ?? '')).toEqual(row)
  },
)

it('a client that reads the picture signs in where a captcha is due', async () => {
  await using emulator = await startEmulator(SETTING)
  const account = emulator.account('plain@example.com')
  const { identity, credential } = account
  account.change({ captcha: true })
  const { fresh } = await tradingClient(emulator, { identity, credential, passcode: '' })
  expect(await isAccepted(emulator, fresh)).toBe(true)
  expect(emulator.requests.map(({ path }) => path)).toContain('/en_us/captcha')
})

it.each([
  ['first matches', regexClient],
  ['templates and trade', tradingClient],
])('%s fails with strictness document before a code exchange', async (_name, client) => {
  await using emulator = await startEmulator({ mfaAt: 'form-submission' })
  const { identity, credential } = emulator.account('plain@example.com')
  await expect(client(emulator, { identity, credential, passcode: '' })).rejects.toHaveProperty('message')
  expect(emulator.counters.codeExchanges).toBe(0)
})
