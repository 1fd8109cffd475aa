/**
 * The command, run inside the test's process, with the file system and the service real: what it says, word for word, and its
 * exit code. Who sits at the terminal, if anybody does, answers from a list.
 */
import * as files from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSso, createTokenManager, type TokenRecord } from '@owner-sso/core'
import type { Emulator } from '@owner-sso/emulator'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { afterAll, afterEach, beforeEach, jest } from '@jest/globals'
import { constantText } from './constant-text.ts'

/** All that was said since the last call began. */
export const said: string[] = []
/** What the person answers, one after the other: `=` takes what is proposed; a function is given what was said. */
export const answers: (string | boolean | ((text: string) => string | Promise<string>))[] = []

/** Standard output is written to straight away, by its descriptor: that one alone is somebody else's here. */
jest.unstable_mockModule('node:fs', () => ({
  ...files,
  default: files,
  writeSync: (descriptor: number, data: Buffer, at = 0) => {
    if (descriptor !== 1) return files.writeSync(descriptor, data, at)
    said.push(data.subarray(at).toString())
    return data.byteLength - at
  },
}))

interface Question {
  readonly message: string
  readonly initialValue?: string | boolean
  readonly options?: readonly { readonly value: string; readonly label: string }[]
  readonly validate?: (answer: string) => string | undefined
  readonly output: unknown
  readonly signal: unknown
}

/** A question, with what stands there already or can be chosen from, and each answer that is not taken. */
async function ask(kind: string, question: Question): Promise<unknown> {
  const { message, initialValue = '', options, validate, output, signal } = question
  const there = options === undefined ? initialValue : options.map(({ label }) => label).join(' | ')
  said.push(`? ${kind}: ${message}${there === '' ? '' : ` [${there}]`}\n`)
  if (output !== process.stderr || signal !== stopped) said.push('  asked in the wrong place\n')
  for (;;) {
    const next = answers.shift()
    if (next === undefined) throw new Error('Nobody answers')
    const answer = typeof next === 'function' ? await next(said.join('')) : next === '=' ? initialValue : next
    const problem = validate?.(String(answer))
    if (problem === undefined) return options?.find(({ label }) => label === answer)?.value ?? (answer || undefined)
    said.push(`  ${problem}\n`)
  }
}
const asking = (kind: string) => (question: Question) => ask(kind, question)
const saying = (kind: string) => (text: string | readonly string[]) =>
  void said.push(`${kind}: ${[text].flat().join('\n')}\n`)
jest.unstable_mockModule('@clack/prompts', () => ({
  text: asking('text'),
  password: asking('password'),
  confirm: async (question: Question) => (await ask('confirm', question)) === true,
  select: asking('select'),
  intro: saying('intro'),
  outro: saying('outro'),
  log: { step: saying('step'), warn: saying('warn'), message: saying('message') },
}))

export const home = files.mkdtempSync(join(tmpdir(), 'owner-sso-calls-'))
const { env, argv } = process
process.env = { ...env, XDG_CONFIG_HOME: home }
const { runProgram } = await import('../src/program.ts')
const { report } = await import('../src/report.ts')
const { stopped } = await import('../src/interruption.ts')

const elsewhere = 'https://auth.example.com'
export const key = Buffer.alloc(32, 7).toString('base64')

const streams = ['stdin', 'stdout', 'stderr'] as const
const terminals = streams.map((name) => Object.getOwnPropertyDescriptor(process[name], 'isTTY'))

let drawsBars = false
/** Whether somebody sits there. Bars are not looked at, unless it is said: they are drawn where a machine is slow. */
export function setTerminal(isTTY: boolean, bars = false): void {
  drawsBars = bars
  for (const name of streams) Object.defineProperty(process[name], 'isTTY', { value: isTTY, configurable: true })
  // Room for every line: where they are broken is another test's.
  Object.assign(process.stderr, { columns: 1000 })
}

beforeEach(() => {
  setTerminal(false)
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
    if (drawsBars || !String(text).startsWith('\r')) said.push(`2> ${String(text)}`)
    return true
  })
})
afterEach(() => {
  jest.restoreAllMocks()
  Object.assign(process, { env, argv })
  for (const [index, name] of streams.entries())
    Object.defineProperty(process[name], 'isTTY', terminals[index] ?? { value: undefined, configurable: true })
})
afterAll(() => files.rmSync(home, { recursive: true, force: true }))

export interface Caller {
  /** Begins a call, with `H` for the home. Resolves with its exit code. */
  readonly begin: (line: string, variables?: NodeJS.ProcessEnv) => Promise<number>
  /** A call: what it said, and its exit code. */
  readonly call: (line: string, variables?: NodeJS.ProcessEnv) => Promise<string>
  /** What several calls say, one after the other, without what differs from one run to the next. */
  readonly transcript: (lines: readonly (string | readonly [string, NodeJS.ProcessEnv])[]) => Promise<string>
  /** The same of a text. */
  readonly settled: (text: string) => string
}

/** Whoever calls the command on a machine where this emulator is the service. */
export function callerOf(emulator: Emulator): Caller {
  const begin: Caller['begin'] = async (line, variables = {}) => {
    said.length = 0
    process.argv = ['node', 'owner-sso', ...line.split(' ').map((word) => word.replace(/(?<=^|:)H(?=\/)/u, home))]
    process.env = {
      OWNER_SSO_STORE: `file:${home}/tokens`,
      OWNER_SSO_AUTH_URL: emulator.authUrl,
      OWNER_SSO_REGIONAL_AUTH_URLS: emulator.regionalAuthUrl,
      OWNER_SSO_API_URL: emulator.ownerApiUrl,
      OWNER_SSO_KEYRING: 'off',
      ...variables,
    }
    return runProgram(process.argv).catch(report)
  }
  const call: Caller['call'] = async (line, variables = {}) => {
    const code = await begin(line, variables)
    return `$ owner-sso ${line} ${Object.keys(variables).join(' ')}\n${said.join('')}(exit code ${code})\n`
  }
  const settled = (text: string): string =>
    constantText(
      ['authUrl', 'regionalAuthUrl', 'ownerApiUrl']
        .map((name) => [name, new URL(Reflect.get(emulator, name))] as const)
        .reduce(
          (shown, [name, { origin, host }]) => shown.replaceAll(origin, `http://${name}`).replaceAll(host, name),
          text.replaceAll(home, 'H'),
        ),
    )
  return {
    begin,
    call,
    settled,
    async transcript(lines) {
      const calls: string[] = []
      for (const line of lines) calls.push(await (typeof line === 'string' ? call(line) : call(...line)))
      return settled(calls.join('\n'))
    },
  }
}

/** Writes a file for a call, and returns how the call names it. */
export function written(name: string, content: unknown): string {
  files.writeFileSync(join(home, name), typeof content === 'string' ? content : JSON.stringify(content), {
    mode: 0o600,
  })
  return `H/${name}`
}

/** A store with accounts that nobody asks the service about. */
export async function storeOf(folder: string, ...accounts: readonly string[]): Promise<void> {
  const path = join(home, folder)
  const tokens = createTokenManager({ sso: createSso({ authUrl: elsewhere }), store: fileTokenStore({ path }) })
  for (const account of accounts) {
    await tokens.save(account, { refresh_token: `the-refresh-token-of-${account}`, auth_url: elsewhere })
  }
}

/** The same of an account that has to sign in again. */
export async function deadIn(folder: string, account: string): Promise<void> {
  await storeOf(folder, account)
  const store = fileTokenStore({ path: join(home, folder) })
  const { version = 0, record } = (await store.read(account)) ?? {}
  const dead = { ...record, state: 'reauthentication-required', reason: 'refresh_token_rejected' } as TokenRecord
  await store.swap(account, version, dead, 'dead')
}
