/** The token manager over an issuer that is not ours: the program of packages/token-manager/README.md, against `oidc-provider`. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { codeBlocksOf } from '../../support/code-blocks.ts'
import { hasRedis, startRedis } from '../../support/redis-server.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const program = join(here, '../test-artefacts/openid-issuer.mjs')
const anHour = 3_600_000

beforeAll(() => {
  const [block] = codeBlocksOf('packages/token-manager/README.md').filter(
    ({ marks }) => marks['interop'] === 'openid-issuer.mjs',
  )
  mkdirSync(join(here, '../test-artefacts'), { recursive: true })
  writeFileSync(program, block?.code ?? '')
})

const owned: (() => unknown)[] = []
afterEach(async () => {
  for (const end of owned.splice(0).toReversed()) await end()
})

interface Child {
  readonly process: ChildProcess
  readonly first: Readonly<Record<string, string>>
  readonly call: (command: string, argument?: unknown) => Promise<unknown>
}

async function start(file: string): Promise<Child> {
  // Its own warnings are not ours: oidc-provider has them for a provider in memory, and for Node 20.
  const child = fork(join(here, 'any-issuer', file), { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  owned.push(() => child.kill('SIGKILL'))
  const [first] = await once(child, 'message')
  return {
    process: child,
    first,
    async call(command, argument) {
      const reply = new Promise((resolve, reject) => {
        const heard = (message: object): void => {
          if (!('result' in message)) return
          child.off('message', heard)
          resolve(message.result)
        }
        child.on('message', heard).once('exit', () => reject(new Error(`${file} ended during ${command}`)))
      })
      child.send({ command, argument })
      return reply
    },
  }
}

const places = [
  {
    name: 'the file store',
    open: async () => {
      const path = mkdtempSync(join(tmpdir(), 'owner-sso-any-issuer-'))
      owned.push(() => rm(path, { recursive: true }))
      return { path }
    },
  },
  {
    name: 'the Redis store',
    open: async () => {
      const redis = await startRedis()
      owned.push(() => redis.stop())
      return { redisUrl: redis.url }
    },
  },
].filter(({ name }) => hasRedis || name !== 'the Redis store')

describe.each(places)('another issuer, over $name', ({ open }) => {
  async function deploy(processes: number): Promise<{
    provider: Child
    workers: readonly Child[]
    signIn: () => Promise<void>
    ask: (asked: readonly Child[], callers: number) => Promise<string[]>
  }> {
    const place = await open()
    const provider = await start('provider.mjs')
    const { url, tokenEndpoint } = provider.first
    const server = { issuer: url, token_endpoint: tokenEndpoint }
    const workers = await Promise.all(Array.from({ length: processes }, () => start('worker.mjs')))
    await Promise.all(workers.map((worker) => worker.call('open', { program, server, ...place })))
    return {
      provider,
      workers,
      signIn: async () =>
        void (await workers[0]?.call('save', { refresh_token: await provider.call('signIn'), auth_url: url })),
      ask: async (asked, callers) => {
        const ends = await Promise.all(asked.map((worker) => worker.call('ask', callers)))
        return ends.flat().map(String)
      },
    }
  }

  it('has one refresh for each expiry, for 4 processes of 25 callers, and detects no reuse', async () => {
    const { provider, workers, signIn, ask } = await deploy(4)
    await signIn()
    const seen = new Set<string>()
    for (let expiry = 1; expiry <= 5; expiry += 1) {
      const answers = await ask(workers, 25)
      expect(answers).toHaveLength(100)
      expect(new Set(answers).size).toBe(1)
      expect(answers[0]).toMatch(/^[\da-f]{64}$/u)
      seen.add(String(answers[0]))
      expect(await provider.call('counters')).toEqual({ requests: expiry, refreshes: expiry, reuses: 0 })
      for (const worker of workers) await worker.call('move', anHour)
    }
    expect(seen.size).toBe(5)
  })

  it.each([
    { moment: 'with the request on its way', drop: 'request', end: /^[\da-f]{64}$/u, refreshes: 2, reuses: 0 },
    { moment: 'with the response on its way', drop: 'response', end: /^rotated_token_lost$/u, refreshes: 2, reuses: 1 },
  ])('keeps the same promise at a kill -9 $moment', async ({ drop, end, refreshes, reuses }) => {
    const { provider, workers, signIn, ask } = await deploy(3)
    const others = workers.slice(0, 2)
    const victim = workers[2] as Child
    await signIn()
    await ask(workers, 1)
    for (const worker of workers) await worker.call('move', anHour)
    await provider.call('drop', drop)
    victim.call('ask', 1).catch(() => undefined)
    for (;;) {
      const [message] = await once(provider.process, 'message')
      if ('dropped' in message) break
    }
    victim.process.kill('SIGKILL')
    await once(victim.process, 'exit')
    const answers = await ask(others, 25)
    expect(new Set(answers).size).toBe(1)
    expect(answers[0]).toMatch(end)
    // One request for the sign-in, one that was cut off, one replay.
    expect(await provider.call('counters')).toEqual({ requests: 3, refreshes, reuses })

    // A lost response costs one sign-in, and no more.
    if (reuses > 0) await signIn()
    expect((await ask(others, 1))[0]).toMatch(/^[\da-f]{64}$/u)
  })
})
