/** A home-broker and an `owner-sso broker` behind one address, over one store: to a program, and to a person, they are one. */
import { type ChildProcess, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, request as httpRequest, type RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from '@jest/globals'
import { brokerClients, statusPageCode } from '@owner-sso/broker'
import { createSso, createTokenManager, type Factor } from '@owner-sso/core'
import { startEmulator } from '@owner-sso/emulator'
import { describeWithPostgres, startPostgres } from '../../../tests/support/postgres-server.ts'
import { describeWithRedis, startRedis } from '../../../tests/support/redis-server.ts'
import { openStore } from '../src/open-store.ts'

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const command = fileURLToPath(new URL('../../../packages/cli/dist/main.cjs', import.meta.url))
const account = 'mfa@example.com'
const credential = 'correct horse'
const secret = Buffer.alloc(32, 7).toString('base64')

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

function start(args: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] })
  ends.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  })
  return child
}

async function firstLine({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('It has no standard output.')
  const [line]: unknown[] = await once(createInterface({ input: stdout }), 'line', {
    signal: AbortSignal.timeout(60_000),
  })
  return String(line)
}

/** Resolves to its address. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  ends.push(
    () => server.closeAllConnections(),
    () => server.close(),
  )
  await once(server, 'listening')
  const address = server.address()
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
}

/** One address, behind which each request goes to the next instance. */
function roundRobin(urls: readonly string[]): Promise<string> {
  let turn = 0
  return serve((incoming, outgoing) => {
    const target = urls[turn++ % urls.length] ?? ''
    const { method, headers, url } = incoming
    const forwarded = httpRequest(target + String(url), { method, headers }, (answer: IncomingMessage) => {
      answer.pipe(outgoing.writeHead(answer.statusCode ?? 0, answer.headers))
    })
    incoming.pipe(forwarded)
  })
}

/** Endpoint 6, as a client of the service calls it. */
async function refreshAt(url: string, refresh_token: string) {
  const body = JSON.stringify({ grant_type: 'refresh_token', client_id: 'ownerapi', refresh_token })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/oauth2/v3/token`, { method: 'POST', headers, body })
  const tokens: { access_token?: string; refresh_token?: string; error?: string } = JSON.parse(await response.text())
  return { status: response.status, ...tokens }
}

/** A browser without a screen: keeps its cookie, and posts the forms that it was shown. */
function browser() {
  let [cookie, token] = ['', '']
  const send = async (address: string, init: RequestInit = {}): Promise<{ status: number; page: string }> => {
    const response = await fetch(address, { redirect: 'manual', ...init, headers: { cookie } })
    cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? cookie
    const page = await response.text()
    token = /name="_csrf" value="([^"]+)"/u.exec(page)?.[1] ?? token
    return { status: response.status, page }
  }
  return {
    open: (address: string) => send(address),
    post: (address: string, fields: Record<string, string>) =>
      send(address, { method: 'POST', body: new URLSearchParams({ _csrf: token, ...fields }) }),
  }
}

/** A server that may be killed, and keeps what it has. */
interface StoreServer {
  readonly url: string
  readonly kill: () => Promise<void>
  readonly start: () => Promise<void>
}

/** What was told of the account, in order, and what the service saw. */
async function lifeOfTwo({ url: address, kill, start: startAgain }: StoreServer): Promise<object> {
  const emulator = await startEmulator({ rotation: 'single-use', reuse: 'revoke-family' })
  ends.push(() => emulator.close())
  const home = mkdtempSync(join(tmpdir(), 'owner-sso-instances-'))
  ends.push(() => rmSync(home, { recursive: true, force: true }))
  const told: { type: string; id: string }[] = []
  const telling = new EventEmitter()
  const receive: (...call: Parameters<RequestListener>) => Promise<void> = async (request, response) => {
    told.push(JSON.parse(await text(request)))
    response.writeHead(204).end()
    telling.emit('told')
  }
  const hook = await serve((request, response) => {
    void receive(request, response)
  })
  const env = {
    PATH: process.env['PATH'],
    HOME: home,
    PORT: '0',
    OWNER_SSO_AUTH_URL: emulator.authUrl,
    OWNER_SSO_STORE: address,
    OWNER_SSO_ENCRYPTION_KEY: secret,
    OWNER_SSO_ALERT_WEBHOOK: hook,
    OWNER_SSO_ALERT_SECRET: secret,
  }
  const processes = [
    start([main], env),
    start([command, 'broker', '--port', '0', '--rotate', '--alert-webhook', hook], env),
  ] as const
  const [log, url] = await Promise.all(processes.map(firstLine))
  const first = String(JSON.parse(log ?? '').url)
  const second = url ?? ''
  const both = await roundRobin([first, second])

  const { store, close } = openStore({ store: address, encryptionKeys: [Buffer.from(secret, 'base64')] })
  ends.push(close)
  const sso = createSso({ authUrl: emulator.authUrl })
  const tokens = createTokenManager({ sso, store, minRefreshInterval: 0 })
  const passcodeOf = (device: string): string => emulator.account(account).passcode(device)
  /** The other device: a passcode works once. */
  let tablet = ''
  const passcode = async ([phone, other]: readonly Factor[]) => {
    tablet = other?.id ?? ''
    return { factorId: phone?.id, passcode: passcodeOf('Device #1') }
  }
  // A token that has just expired: the first call that needs it is the one refresh.
  const set = await sso.login({ identity: account, credential, passcode })
  await tokens.save(account, { ...JSON.parse(JSON.stringify(set)), expires_at: Date.now() / 1000 })

  // Let in by one process, served by all of them, with one token.
  const invited = start([command, 'broker', 'invite', 'heating', '--account', account], env)
  let key = await firstLine(invited)
  const clients = brokerClients({ store })
  const { refresh_token: other } = await clients.invite({ name: 'other', accounts: [account] })
  const answers = await Promise.all(Array.from({ length: 10 }, () => refreshAt(both, other)))
  expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
  expect(new Set(answers.map(({ access_token }) => access_token)).size).toBe(1)
  expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, replays: 0 })

  // A client's own token, that rotates at one of them.
  for (let turn = 0; turn < 6; turn += 1) {
    const answer = await refreshAt(both, key)
    expect(answer).toMatchObject({ status: 200, access_token: answers[0]?.access_token })
    key = answer.refresh_token ?? ''
  }
  const { refresh_token: fresh } = await clients.rotate('heating')
  for (const each of [first, second]) {
    expect([(await refreshAt(each, key)).status, (await refreshAt(each, fresh)).status]).toEqual([400, 200])
  }

  // The sign-in has ended: told once, whoever of them notices. A person comes in by a code of either, and signs in at one.
  emulator.expireRefreshTokens(account)
  const needed = once(telling, 'told')
  await expect(tokens.refresh(account)).rejects.toMatchObject({ code: 'ERR_SSO_REAUTHENTICATION_REQUIRED' })
  await Promise.all(Array.from({ length: 6 }, () => refreshAt(both, other)))
  await needed
  const person = browser()
  await person.open(`${first}/status`)
  expect((await person.post(`${second}/status/enter`, { code: await statusPageCode(store) })).status).toBe(303)
  expect((await person.open(`${both}/status`)).page).toContain('Sign in again')
  const fields = { account, identity: account, credential }
  // A double click.
  const checks = emulator.counters.credentialChecks
  const clicks = await Promise.all([1, 2].map(() => person.post(`${first}/status/sign-in`, fields)))
  expect(clicks.map(({ status }) => status)).toEqual([303, 303])
  expect(emulator.counters.credentialChecks).toBe(checks + 1)
  expect((await person.open(`${first}/status/sign-in/passcode`)).page).toContain(tablet)
  const restored = once(telling, 'told')
  const given = { passcode: passcodeOf('Tablet'), factor: tablet }
  expect((await person.post(`${first}/status/sign-in/passcode`, given)).status).toBe(303)
  expect((await person.open(`${first}/status`)).page).toContain(`${account} is signed in.`)
  await Promise.all(Array.from({ length: 6 }, () => refreshAt(both, other)))
  await restored

  // The store goes: who has the token goes on with it. It comes back, and so do both.
  const { access_token: current } = await refreshAt(both, other)
  await kill()
  const served = await Promise.all([first, second].map((each) => refreshAt(each, other)))
  expect(served).toEqual([1, 2].map(() => expect.objectContaining({ access_token: current, refresh_token: other })))
  await startAgain()
  for (const each of [first, second]) {
    while (!(await person.open(`${each}/status`)).page.includes('heating')) await pause(100)
  }
  while (!(await clients.revoke('other').catch(() => false))) await pause(100)
  for (const each of [first, second, both]) {
    expect(await refreshAt(each, other)).toMatchObject({ status: 400, error: 'invalid_grant' })
  }
  const codes = processes.map(async (child) => once(child, 'exit'))
  for (const child of processes) child.kill('SIGTERM')
  expect(await Promise.all(codes)).toEqual([
    [0, null],
    [0, null],
  ])
  const { tokenRefreshes, replays } = emulator.counters
  // Those that have ended have told all that they had to tell.
  return { told: told.map(({ type }) => type), tokenRefreshes, replays }
}

/** One sign-in that was told to end, one that was begun in its place, and one refresh. */
const right = { told: ['sign-in.needed', 'sign-in.restored'], tokenRefreshes: 1, replays: 0 }

describeWithRedis('over Redis', () => {
  it('two brokers behind one address are one to programs and people', async () => {
    const redis = await startRedis('--appendonly', 'yes', '--appendfsync', 'always')
    ends.push(() => redis.stop())
    expect(await lifeOfTwo(redis)).toEqual(right)
  }, 120_000)
})

describeWithPostgres('over PostgreSQL', () => {
  it('two brokers behind one address are one to programs and people', async () => {
    const postgres = await startPostgres()
    ends.push(() => postgres.stop())
    expect(await lifeOfTwo(postgres)).toEqual(right)
  }, 120_000)
})
