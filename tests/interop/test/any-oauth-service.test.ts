/** The programs of docs/guides/any-oauth-service.md, as they stand, against `oidc-provider`: one refresh for each expiry, and no reuse. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it, jest } from '@jest/globals'
import { codeBlocksOf } from '../../support/code-blocks.ts'
import { freePort } from '../../support/free-port.ts'
import { describeWithRedis, startRedis } from '../../support/redis-server.ts'
import { type Child, newFolder, start } from './any-issuer/children.ts'
import { atEnd } from './processes.ts'

jest.setTimeout(15_000)

const guide = 'docs/guides/any-oauth-service.md'
const here = fileURLToPath(new URL('.', import.meta.url))
const clock = join(here, 'any-issuer/moved-clock.mjs')
const anHour = 3_600_000
const tokenKey = randomBytes(32).toString('base64')

let provider: Child
let baseUrl: string
beforeEach(async () => {
  baseUrl = `http://127.0.0.1:${await freePort()}`
  provider = await start('provider.mjs', [`${baseUrl}/callback`])
})

const settings = (): Record<string, string> => ({
  ISSUER: provider.first['url'] ?? '',
  CLIENT_ID: 'web',
  CLIENT_SECRET: 'the secret of web',
  TOKEN_KEY: tokenKey,
  BASE_URL: baseUrl,
})

/** A program of the guide, where its imports are found. */
function saved(name: string): string {
  const block = codeBlocksOf(guide).find(({ marks }) => marks['interop'] === name)
  if (block === undefined) throw new Error(`${guide} has no code block marked "interop: ${name}"`)
  const artefacts = join(here, '../test-artefacts')
  mkdirSync(artefacts, { recursive: true })
  const file = join(mkdtempSync(join(artefacts, 'guide-')), name)
  writeFileSync(file, block.code)
  return file
}

interface Program {
  readonly child: ChildProcess
  readonly printed: () => string
  readonly ended: Promise<number | null>
  /** Resolves with what was printed once it matches. */
  readonly printing: (words: RegExp) => Promise<string>
  readonly move: (milliseconds: number) => void
}

/** @param tells - has a clock that is moved while it runs */
function run(args: readonly string[], env: object, { cwd = newFolder(), tells = true } = {}): Program {
  const child = spawn(process.execPath, ['--import', clock, ...args], {
    cwd,
    env: { ...process.env, ...settings(), ...env },
    stdio: ['ignore', 'pipe', 'pipe', tells ? 'ipc' : 'ignore'],
  })
  atEnd(() => child.kill('SIGKILL'))
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (printed += String(chunk)))
  const ended = once(child, 'close').then(() => child.exitCode)
  return {
    child,
    printed: () => printed,
    ended,
    async printing(words) {
      for (;;) {
        const [found] = words.exec(printed) ?? []
        if (found !== undefined) return found
        if (child.exitCode !== null) throw new Error(`it ended: ${printed}`)
        await Promise.race([ended, ...[child.stdout, child.stderr].map((stream) => stream && once(stream, 'data'))])
      }
    },
    move: (argument) => child.send({ command: 'move', argument }),
  }
}

/** Goes where it is led, with the cookies of each host, until an answer leads nowhere, or to an end. */
async function visit(
  address: string,
  cookies = new Map<string, string>(),
  isEnd: (next: string) => boolean = () => false,
): Promise<Response> {
  const { host } = new URL(address)
  const answer = await fetch(address, { redirect: 'manual', headers: { cookie: cookies.get(host) ?? '' } })
  const set = answer.headers.getSetCookie().map((line) => line.split(';')[0] ?? '')
  const kept = new Map(
    [...(cookies.get(host)?.split('; ') ?? []), ...set].map((cookie) => [cookie.split('=')[0] ?? '', cookie]),
  )
  cookies.set(host, [...kept.values()].join('; '))
  const location = answer.headers.get('location')
  const next = location && new URL(location, address).href
  return next === null || isEnd(next) ? answer : visit(next, cookies, isEnd)
}

/** The callback at which a sign-in ends, which is not called. */
async function callbackOf(address: string): Promise<URL> {
  const answer = await visit(address, undefined, (next) => next.startsWith(`${baseUrl}/`))
  return new URL(answer.headers.get('location') ?? '')
}

const counted = async (): Promise<unknown> => provider.call('counters')
const refreshes = (count: number): object => expect.objectContaining({ refreshes: count, reuses: 0, revoked: 0 })
const owner = { sub: 'owner' }

describeWithRedis('a Passport strategy', () => {
  it('is refreshed once in four instances, whatever they are asked at the same time', async () => {
    const redis = await startRedis()
    atEnd(() => redis.stop())
    const file = saved('passport.mjs')
    const ports = [new URL(baseUrl).port, ...(await Promise.all([freePort(), freePort(), freePort()])).map(String)]
    const instances = ports.map((PORT) => run([file], { PORT, REDIS_URL: redis.url, SESSION_SECRET: 'of this test' }))
    await Promise.all(instances.map(({ printing }) => printing(/^http/mu)))

    const cookies = new Map<string, string>()
    const first = await visit(`${baseUrl}/login`, cookies)
    expect([first.status, await first.json()]).toEqual([200, owner])
    const cookie = cookies.get(new URL(baseUrl).host) ?? ''
    const askAll = async (): Promise<unknown[]> =>
      Promise.all(
        ports.flatMap((port) =>
          Array.from({ length: 5 }, async () =>
            (await fetch(`http://127.0.0.1:${port}/`, { headers: { cookie } })).json(),
          ),
        ),
      )
    expect(await askAll()).toEqual(Array.from({ length: 20 }, () => owner))
    expect(await counted()).toEqual(refreshes(0))
    for (let expiry = 1; expiry <= 3; expiry += 1) {
      for (const { move } of instances) move(anHour)
      // One of them dies, and the others go on.
      if (expiry === 2) instances.pop()?.child.kill('SIGKILL')
      if (expiry === 2) ports.pop()
      expect(new Set((await askAll()).map((answer) => JSON.stringify(answer)))).toEqual(
        new Set([JSON.stringify(owner)]),
      )
      expect(await counted()).toEqual(refreshes(expiry))
    }
  })
})

describe('openid-client', () => {
  it('signs in, and what it brings is refreshed once for all who ask', async () => {
    const program = run([saved('openid-client.mjs')], { PORT: new URL(baseUrl).port })
    await program.printing(/^http/mu)
    expect(await (await visit(`${baseUrl}/login`)).text()).toBe('Signed in: owner')
    for (let expiry = 1; expiry <= 2; expiry += 1) {
      program.move(anHour)
      const asked = Array.from({ length: 10 }, async () => (await fetch(`${baseUrl}/?account=owner`)).json())
      expect(await Promise.all(asked)).toEqual(Array.from({ length: 10 }, () => owner))
      expect(await counted()).toEqual(refreshes(expiry))
    }
  })
})

describe('Next.js', () => {
  it('answers several requests of a page at once, in two processes, after one refresh', async () => {
    const file = saved('route.mjs')
    // What a framework does with such a module.
    const host = join(newFolder(), 'host.mjs')
    writeFileSync(
      host,
      `import { callbacks, GET } from '${file}'
      process.on('message', async ({ command, argument }) => {
        if (command === 'signIn') {
          const account = { provider: 'x', type: 'oauth', access_token: 'a0', refresh_token: argument, expires_at: 1_700_000_000 }
          await callbacks.signIn({ account, profile: { sub: 'owner' } })
          process.send({ result: callbacks.jwt({ token: {}, profile: { sub: 'owner' } }) })
        }
        if (command !== 'page') return
        const request = () => GET(new Request('http://localhost/api', { headers: { 'x-account': 'owner' } }))
        const answers = await Promise.all(Array.from({ length: argument }, request))
        process.send({ result: await Promise.all(answers.map(async (answer) => [answer.status, await answer.json()])) })
      })
      console.log('listens')`,
    )
    const cwd = newFolder()
    const hosts = [run([host], {}, { cwd }), run([host], {}, { cwd })]
    const call = async ({ child }: Program, command: string, argument: unknown): Promise<unknown> => {
      const told = once(child, 'message')
      child.send({ command, argument })
      const [{ result }] = await told
      return result
    }
    await Promise.all(hosts.map(({ printing }) => printing(/listens/u)))
    const [one] = hosts as [Program]
    expect(await call(one, 'signIn', await provider.call('signIn', 'web'))).toEqual({ account: 'owner' })
    const pages = await Promise.all(hosts.map((each) => call(each, 'page', 10)))
    expect(pages.flat()).toEqual(Array.from({ length: 20 }, () => [200, owner]))
    expect(await counted()).toEqual(refreshes(1))
  })
})

describe('a command line', () => {
  it('signs in by itself, and is used from five terminals', async () => {
    const file = saved('cli.mjs')
    const cwd = newFolder()
    const env = { CLIENT_ID: 'native', CLIENT_SECRET: undefined, PORT: String(await freePort()) }
    const login = run([file, 'login'], env, { cwd, tells: false })
    const url = (await login.printing(/(?<=^Open ).*$/mu)).trim()
    expect(await (await visit(url)).text()).toBe('Close this page.')
    expect([await login.ended, login.printed()]).toEqual([0, expect.stringContaining(JSON.stringify(owner))])

    for (let expiry = 1; expiry <= 2; expiry += 1) {
      const ahead = { ...env, CLOCK_AHEAD: String(expiry * anHour) }
      const terminals = Array.from({ length: 5 }, () => run([file], ahead, { cwd, tells: false }))
      const ends = await Promise.all(terminals.map(async ({ ended, printed }) => [await ended, printed()]))
      expect(ends).toEqual(Array.from({ length: 5 }, () => [0, `${JSON.stringify(owner)}\n`]))
      expect(await counted()).toEqual(refreshes(expiry))
    }
  })

  it('says in a line what is to be done where nobody is signed in', async () => {
    const program = run([saved('cli.mjs')], { CLIENT_ID: 'native', CLIENT_SECRET: undefined }, { tells: false })
    expect([await program.ended, program.printed()]).toEqual([
      1,
      'ERR_SSO_SIGNED_OUT: This account is not signed in. Sign in first.\n',
    ])
  })
})

describe('an agent’s client', () => {
  it('signs in through the SDK of the Model Context Protocol once, and two agents have a token for each request', async () => {
    const { url: server = '' } = (await start('mcp-server.mjs', [provider.first['url'] ?? ''])).first
    const [file, cwd, callback] = [saved('agent.mjs'), newFolder(), `${baseUrl}/callback`]
    const agent = (): Promise<Child> =>
      start('agent-host.mjs', [file, server, callback], { cwd, env: { ...process.env, ...settings() } })
    const [one, other] = [await agent(), await agent()]

    const { opened } = Object(await one.call('ask', 1))
    expect(opened).toHaveLength(1)
    // The service leads back to the agent, which listens nowhere in this test.
    const { searchParams } = await callbackOf(String(opened[0]))
    expect(searchParams.get('error')).toBeNull()
    await one.call('finish', searchParams.get('code'))
    const served = { answers: [owner.sub], opened: [] }
    expect(await Promise.all([one.call('ask', 5), other.call('ask', 5)])).toEqual([served, served])
    expect(await counted()).toEqual(refreshes(0))

    for (let expiry = 1; expiry <= 2; expiry += 1) {
      for (const each of [one, other]) await each.call('move', anHour)
      expect(await Promise.all([one.call('ask', 5), other.call('ask', 5)])).toEqual([served, served])
      expect(await counted()).toEqual(refreshes(expiry))
    }
  })
})

describe('Express behind bearer()', () => {
  it('puts the token on each request to the API, after one refresh for all of them', async () => {
    const file = saved('express-bearer.mjs')
    const cwd = newFolder()
    const seed = join(newFolder(), 'seed.mjs')
    // A sign-in, by any other program.
    writeFileSync(
      seed,
      `import { pathToFileURL } from 'node:url'
      const [, , from, refreshToken] = process.argv
      const { createRequire } = await import('node:module')
      const load = (name) => import(pathToFileURL(createRequire(from).resolve(name)).href)
      const { createTokenManager } = await load('@owner-sso/token-manager')
      const { oauthIssuer } = await load('@owner-sso/token-manager/oauth')
      const { fileTokenStore } = await load('@owner-sso/token-store-file')
      const encryptionKey = Buffer.from(process.env.TOKEN_KEY, 'base64')
      const issuer = oauthIssuer({ issuer: process.env.ISSUER, clientId: 'web', clientSecret: 'the secret of web' })
      const tokens = createTokenManager({ issuer, store: fileTokenStore({ path: './tokens', encryptionKey }), background: false })
      await tokens.save('owner', { access_token: 'a0', refresh_token: refreshToken, expires_at: 1_700_000_000 })`,
    )
    const seeding = run([seed, file, String(await provider.call('signIn', 'web'))], {}, { cwd, tells: false })
    expect([await seeding.ended, seeding.printed()]).toEqual([0, ''])

    const PORT = String(await freePort())
    const program = run([file], { PORT, API_URL: `${provider.first['url']}/me` }, { cwd })
    await program.printing(/^http/mu)
    const headers = { 'x-account': 'owner', authorization: 'Bearer of-the-caller', cookie: 'session=of-the-caller' }
    const ask = async (more: object = headers): Promise<[number, unknown]> => {
      const answer = await fetch(`http://127.0.0.1:${PORT}/api`, { headers: { ...more } })
      return [answer.status, await answer.json()]
    }
    expect(await Promise.all(Array.from({ length: 10 }, async () => ask()))).toEqual(
      Array.from({ length: 10 }, () => [200, owner]),
    )
    expect(await counted()).toEqual(refreshes(1))
    expect(await ask({})).toEqual([401, expect.objectContaining({ code: 'ERR_SSO_SIGNED_OUT' })])
  })
})

it('every program that the guide marks is run by one of these tests', () => {
  const marked = codeBlocksOf(guide).flatMap(({ marks }) => marks['interop'] ?? [])
  expect(marked.toSorted()).toEqual(
    ['agent.mjs', 'cli.mjs', 'express-bearer.mjs', 'openid-client.mjs', 'passport.mjs', 'route.mjs'].toSorted(),
  )
})
