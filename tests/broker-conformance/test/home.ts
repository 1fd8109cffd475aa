/**
 * A broker of ours for the tests: an account that is signed in at the emulator, a program with a key, and one that was revoked.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { brokerClients, tokenBroker } from '@owner-sso/broker'
import { createSso, createTokenManager, type TokenManager } from '@owner-sso/core'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { run } from '../src/command.ts'

export const account = 'plain@example.com'

export interface Home extends AsyncDisposable {
  readonly emulator: Emulator
  readonly tokens: TokenManager
  readonly url: string
  readonly socket: string
  readonly key: string
  readonly revokedKey: string
  readonly folder: string
}

export async function startHome(): Promise<Home> {
  const folder = await mkdtemp(join(tmpdir(), 'owner-sso-conformance-'))
  const emulator = await startEmulator()
  const sso = createSso({ authUrl: emulator.authUrl })
  const store = memoryTokenStore()
  const tokens = createTokenManager({ issuer: sso, store, minRefreshInterval: 0 })
  await tokens.save(account, await sso.login({ identity: account, credential: 'correct horse' }))
  const clients = brokerClients({ store })
  const invite = async (name: string): Promise<string> =>
    (await clients.invite({ name, accounts: [account] })).refresh_token
  const [key, revokedKey] = [await invite('program'), await invite('revoked')]
  await clients.revoke('revoked')
  const broker = tokenBroker({ tokens, clients, limits: { wrongKeysPerMinute: 1000 } })
  const { url } = await broker.listen({ port: 0 })
  const { url: socket } = await broker.listen({ unix: join(folder, 'broker.sock') })
  return {
    emulator,
    tokens,
    url,
    socket,
    key,
    revokedKey,
    folder,
    async [Symbol.asyncDispose]() {
      await broker.close()
      await emulator.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

export interface Checked {
  readonly code: number
  readonly printed: string
  readonly complaint: string
  /** The names of what passes, and of what is lacking. */
  readonly ok: readonly string[]
  readonly lacks: readonly string[]
}

/** The command, as it is typed. */
export async function check(args: readonly string[], env: Record<string, string> = {}, input = ''): Promise<Checked> {
  const told = { printed: '', complaint: '' }
  const code = await run(args, {
    env,
    stdin: Readable.from([input]),
    print: (text) => void (told.printed += text),
    complain: (text) => void (told.complaint += text),
  })
  const named = (state: string): string[] =>
    [...told.printed.matchAll(new RegExp(`^ {4}${state} +([^:\\n]+)`, 'gmu'))].map(([, name = '']) => name)
  return { code, ...told, ok: named('ok'), lacks: named('lacks') }
}
