/**
 * A week of an application that its owner has registered: one sign-in from the command line, and three programs. One is a stranger's
 * library, two are written as strangers write them.
 */
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, request as sendRequest, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { expect, it } from '@jest/globals'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import { describeWithPrograms } from '../../support/programs.ts'
import { atEnd, command, conversationWith, start } from './processes.ts'

const account = 'plain@example.com'
const clientId = 'app-of-ann'
const secret = 'ta-secret.of/ann&co'
const vehicle = '10000000000001001'
const require = createRequire(import.meta.url)
const here = (name: string): string => join(import.meta.dirname, 'registered-week', name)
const clock = join(import.meta.dirname, '../../../examples/shared-proxy/test/clock.mjs')

/** Hours. An access token lives for eight: at each step it has ended. */
const [week, step] = [168, 9]

/** In place of the proxy that signs commands: it stands on this machine, and passes on what it gets, but for commands unsigned. */
async function signingProxy(target: string): Promise<{ readonly url: string; readonly signed: string[] }> {
  const signed: string[] = []
  const server = createServer((asked, answer) => {
    const { method = '', url = '', headers } = asked
    if (url.includes('/command/')) signed.push(url)
    const { host: _, ...others } = headers
    const pass = sendRequest(target + url, { method, headers: others }, (came: IncomingMessage) => {
      answer.writeHead(came.statusCode ?? 502, came.headers)
      came.pipe(answer)
    })
    pass.on('error', () => answer.destroy())
    asked.pipe(pass)
  }).listen(0, '127.0.0.1')
  atEnd(() => server.close())
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('A port has an address.')
  return { url: `http://127.0.0.1:${address.port}`, signed }
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
}

describeWithPrograms('curl', 'python3')('a week of a registered application', () => {
  it('is served from one sign-in on the service’s own page: a refresh for each token that ended, and the secret in no program', async () => {
    await using emulator: Emulator = await startEmulator({
      service: 'registered',
      clientId,
      clientSecret: secret,
      rotation: 'single-use',
      reuse: 'revoke-family',
      allowBrowsers: true,
    })
    const home = mkdtempSync(join(tmpdir(), 'owner-sso-week-'))
    atEnd(() => rmSync(home, { recursive: true, force: true }))
    const secretFile = join(home, 'client-secret')
    writeFileSync(secretFile, `${secret}\n`, { mode: 0o600 })
    const proxy = await signingProxy(emulator.ownerApiUrl)
    const base = { PATH: process.env['PATH'], HOME: home }
    const env = {
      ...base,
      OWNER_SSO_AUTH_URL: emulator.authUrl,
      OWNER_SSO_SERVICE: 'registered',
      OWNER_SSO_TOKEN_URL: emulator.tokenUrl,
      OWNER_SSO_CLIENT_ID: clientId,
      OWNER_SSO_CLIENT_SECRET_FILE: secretFile,
      OWNER_SSO_AUDIENCE: emulator.ownerApiUrl,
      OWNER_SSO_REDIRECT_URI: 'https://app.example.com/callback',
      OWNER_SSO_API_URL: proxy.url,
      OWNER_SSO_KEYRING: 'off',
    }

    const login = start(process.execPath, [command, 'login', '--paste', '--account', account], env, ['pipe'])
    if (login.stderr === null || login.stdout === null) throw new Error('It has no standard output.')
    let told = ''
    for await (const line of createInterface({ input: login.stderr })) {
      told += `${line}\n`
      if (line.startsWith(emulator.authUrl)) login.stdin?.end(`${await emulator.signInByHand(line)}\n`)
    }
    expect(told).toContain(`Signed in as ${account}`)

    const args = ['--import', clock, command, 'broker', '--port', '0', '--with-proxy']
    const broker = start(process.execPath, args, env, ['ignore', 'ipc'])
    if (broker.stdout === null) throw new Error('It has no standard output.')
    const [printed]: unknown[] = await once(broker.stdout, 'data')
    const [url = ''] = String(printed).split('\n')

    const program = async (name: string, scope: string, run: string, ...rest: string[]) => {
      const invited = start(process.execPath, [command, 'broker', 'invite', name, '--scope', scope], env, ['ignore'])
      if (invited.stdout === null) throw new Error('It has no standard output.')
      const key = (await text(invited.stdout)).trim()
      const given = { BROKER_URL: url, BROKER_KEY: key, CLIENT_ID: clientId, VEHICLE: vehicle }
      const api = { OWNER_API_URL: emulator.ownerApiUrl, TESLAJS_SERVER: emulator.ownerApiUrl }
      return conversationWith(start(run, rest, { ...base, ...given, ...api }))
    }
    const programs = [
      await program('fleet', 'token', 'python3', here('fleet-program.py')),
      await program('commands', 'proxy', 'sh', here('command-program.sh')),
      await program(
        'npm',
        'token',
        process.execPath,
        '--no-deprecation',
        join(import.meta.dirname, 'broker-week/npm-program.cjs'),
        require.resolve('teslajs'),
      ),
    ]

    let expiries = 0
    const seen = new Set<string>()
    for (let hour = 0; hour <= week; hour += step) {
      const answers = await Promise.all(programs.map((ask) => ask()))
      expect([hour, answers.map((answer) => answer.split(' ')[0])]).toEqual([hour, ['200', '200', '200']])
      seen.add(answers[0]?.split(' ')[1] ?? '')
      if (hour + step > week) break
      emulator.clock.advance(step * 3600)
      expiries += 1
      const passed = once(broker, 'message')
      broker.send({ pass: step * 3600 })
      await passed
    }
    const { codeExchanges, refreshRequests, tokenRefreshes, replays, ownerApiRejections } = emulator.counters
    expect({ codeExchanges, refreshRequests, tokenRefreshes, replays, ownerApiRejections }).toEqual({
      codeExchanges: 1,
      refreshRequests: expiries,
      tokenRefreshes: expiries,
      replays: 0,
      ownerApiRejections: 0,
    })
    expect([expiries, seen.size]).toEqual([18, 19])
    expect(proxy.signed).toHaveLength(19)
    // Nor in anything that owner-sso has written.
    const holding = filesBelow(home).filter((path) => readFileSync(path, 'latin1').includes(secret))
    expect(holding).toEqual([secretFile])
    expect(told).not.toContain(secret)
  }, 180_000)
})
