/** Processes that a test tells what to do, and what they need: the provider, and workers of an application over one store. */
import { type ChildProcess, fork, type ForkOptions } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { atEnd } from '../processes.ts'
import { hasRedis, startRedis } from '../../../support/redis-server.ts'

const here = fileURLToPath(new URL('.', import.meta.url))

export interface Child {
  readonly process: ChildProcess
  readonly first: Readonly<Record<string, string>>
  readonly call: (command: string, argument?: unknown) => Promise<unknown>
  /** The next message that has a member of this name. */
  readonly heard: (name: string) => Promise<unknown>
  readonly kill: () => Promise<void>
}

export async function start(
  file: string,
  args: readonly string[] = [],
  options: Pick<ForkOptions, 'cwd' | 'env'> = {},
): Promise<Child> {
  // Its own warnings are not ours: oidc-provider has them for a provider in memory, and for Node 20.
  const child = fork(join(here, file), args, { ...options, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  atEnd(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${file} ended before it began`)))
  const [first] = await Promise.race([once(child, 'message'), ended])
  const heard = (name: string): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const listen = (message: object): void => {
        if (!(name in message)) return
        child.off('message', listen).off('exit', atExit)
        resolve(Reflect.get(message, name))
      }
      const atExit = (): void => reject(new Error(`${file} ended before it told ${name}`))
      child.on('message', listen).once('exit', atExit)
    })
  return {
    process: child,
    first,
    heard,
    async call(command, argument) {
      const reply = heard('result')
      child.send({ command, argument })
      return reply
    },
    async kill() {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}

/** Where tokens can live. */
export const places = [
  {
    name: 'the file store',
    open: async (): Promise<object> => ({ path: newFolder() }),
  },
  {
    name: 'the Redis store',
    open: async (): Promise<object> => {
      const redis = await startRedis()
      atEnd(() => redis.stop())
      return { redisUrl: redis.url }
    },
  },
].filter(({ name }) => hasRedis || name !== 'the Redis store')

export function newFolder(): string {
  const path = mkdtempSync(join(tmpdir(), 'owner-sso-any-issuer-'))
  atEnd(() => rm(path, { recursive: true, maxRetries: 3 }))
  return path
}

export interface Fleet {
  readonly provider: Child
  /** The living ones. */
  readonly workers: Child[]
  readonly add: () => Promise<Child>
  readonly signIn: () => Promise<void>
  /** How so many callers of each of these ended. */
  readonly ask: (asked: readonly Child[], callers: number) => Promise<string[]>
  /** An access token's whole life passes for all of them. */
  readonly expire: () => Promise<void>
}

const anHour = 3_600_000

export async function deploy({ open }: (typeof places)[number], processes: number): Promise<Fleet> {
  const place = await open()
  const provider = await start('provider.mjs')
  const { tokenEndpoint: tokenUrl } = provider.first
  let passed = 0
  const workers: Child[] = []
  const fleet: Fleet = {
    provider,
    workers,
    async add() {
      const worker = await start('worker.mjs')
      await worker.call('move', passed)
      await worker.call('open', { tokenUrl, ...place })
      workers.push(worker)
      return worker
    },
    signIn: async () => void (await workers[0]?.call('save', await provider.call('signIn'))),
    async ask(asked, callers) {
      const ends = await Promise.all(asked.map((worker) => worker.call('ask', callers)))
      return ends.flat().map(String)
    },
    async expire() {
      passed += anHour
      for (const worker of workers) await worker.call('move', anHour)
    },
  }
  await Promise.all(Array.from({ length: processes }, () => fleet.add()))
  return fleet
}
