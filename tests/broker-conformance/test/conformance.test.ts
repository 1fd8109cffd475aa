/** Brokers are judged as the page says: ours, one of sixty lines, and those that break one promise each. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { optional } from '../src/optional.ts'
import { required } from '../src/required.ts'
import { describeWithPrograms } from '../../../tests/support/programs.ts'
import { account, check, type Home, startHome } from './home.ts'

let home: Home
beforeAll(async () => {
  home = await startHome()
})
afterAll(async () => home[Symbol.asyncDispose]())

const all = [...required, ...optional].map(({ name }) => name)
const keysOf = ({ key, revokedKey }: Home): Record<string, string> => ({
  OWNER_SSO_BROKER_KEY: key,
  OWNER_SSO_BROKER_REVOKED_KEY: revokedKey,
})

it('a broker of ours does all of it, at its port and at its socket together, with one sign-in and no refresh', async () => {
  const { counters } = home.emulator
  const [port, socket] = await Promise.all([home.url, home.socket].map((url) => check([url], keysOf(home))))
  for (const checked of [port, socket]) {
    expect(checked).toMatchObject({ code: 0, lacks: [], complaint: '' })
    for (const secret of [home.key, home.revokedKey, await home.tokens.getAccessToken(account)]) {
      expect(checked?.printed).not.toContain(secret)
    }
  }
  expect(all.filter((name) => !port?.ok.includes(name) && !socket?.ok.includes(name))).toEqual([])
  expect(home.emulator.counters).toMatchObject({ codeExchanges: counters.codeExchanges, refreshRequests: 0 })
})

describeWithPrograms('python3')('a broker of sixty lines', () => {
  let child: ChildProcess | undefined
  afterAll(async () => {
    if (child === undefined) return
    child.kill()
    await once(child, 'exit')
  })

  it('does what is required with one refresh, and is told what it lacks', async () => {
    const { refresh_token } = await home.emulator.issueTokens(account)
    await writeFile(join(home.folder, 'refresh_token'), refresh_token, { mode: 0o600 })
    await writeFile(join(home.folder, 'keys'), `${createHash('sha256').update(home.key).digest('hex')}\n`)
    const env = { PATH: process.env['PATH'], AUTH_URL: home.emulator.authUrl }
    child = spawn('python3', [join(import.meta.dirname, 'broker.py'), '0'], {
      cwd: home.folder,
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [printed]: unknown[] = await once(child.stdout!, 'data')
    const before = home.emulator.counters.tokenRefreshes
    const checked = await check([String(printed).trim()], keysOf(home))
    expect(checked.printed).toContain('Required: 15 of 15 pass. Optional: 0 of 12 pass, 2 not checked.')
    const ofPorts = optional.filter(({ section }) => section !== 'A Unix socket')
    expect(checked).toMatchObject({ code: 0, lacks: ofPorts.map(({ name }) => name) })
    expect(home.emulator.counters.tokenRefreshes).toBe(before + 1)
  })
})

describe('a broker that', () => {
  interface Bend {
    readonly request?: (text: string) => string
    readonly answer?: (body: string, headers: Headers) => string
    readonly before?: () => Promise<unknown>
  }

  /** A broker of ours, whose words are changed on the way. */
  async function bent({
    request = String,
    answer = String,
    before = async () => {},
  }: Bend): Promise<AsyncDisposable & { url: string }> {
    let last: Promise<unknown> = Promise.resolve()
    const forward = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
      const { method = '', url = '' } = incoming
      const sentBody = await text(incoming)
      await before()
      const { authorization = '', 'content-type': type = '', 'if-none-match': tag = '' } = incoming.headers
      const got = await fetch(home.url + url, {
        method,
        headers: { authorization: request(authorization), 'content-type': type, 'if-none-match': tag },
        ...(sentBody !== '' && { body: request(sentBody) }),
      })
      const headers = new Headers(got.headers)
      const body = answer(await got.text(), headers)
      const { 'content-length': _former, ...given } = Object.fromEntries(headers)
      outgoing.writeHead(got.status, given).end(body)
    }
    // One by one, so that a call gets the token of its own refresh.
    const server = createServer((incoming, outgoing) => void (last = last.then(() => forward(incoming, outgoing))))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    return {
      url: `http://127.0.0.1:${port}`,
      async [Symbol.asyncDispose]() {
        server.close()
        await once(server, 'close')
      },
    }
  }

  it('breaks one promise is reported by the name of that promise', async () => {
    const faults: Record<string, [Bend, ...string[]]> = {
      'its ETag is another one each time': [
        { answer: (body, headers) => (headers.set('etag', `"${randomUUID()}"`), body) },
        'has an ETag that stays while the token does',
        'answers 304 to that ETag, and to no other',
      ],
      'its expires_in is what the service once said': [
        { answer: (body) => body.replace(/"expires_in":\d+/u, '"expires_in":28800') },
        'counts expires_in down',
      ],
      'a revoked key is served': [
        { request: (sent) => sent.replace(home.revokedKey, home.key) },
        'rejects a revoked key',
      ],
      'its errors have no codes': [
        { answer: (body) => body.replace(/,"code":"\w+"/u, '') },
        'rejects a revoked key',
        'says ERR_BROKER_UNKNOWN_KEY to an unknown key, and names the scheme',
        'gives a code with every rejection',
      ],
      'no fault': [{}],
    }
    const names = required.map(({ name }) => name)
    const found = Object.entries(faults).map(async ([fault, [bend]]) => {
      await using broker = await bent(bend)
      const { code, lacks } = await check([broker.url], keysOf(home))
      return [fault, code, ...lacks.filter((name) => names.includes(name))]
    })
    const expected = Object.entries(faults).map(([fault, [, ...lacks]]) => [fault, lacks.length > 0 ? 1 : 0, ...lacks])
    expect(await Promise.all(found)).toEqual(expected)
  })

  it('refreshes for each call is reported after ten of them, and asked no more', async () => {
    const before = home.emulator.counters.tokenRefreshes
    await using broker = await bent({ before: () => home.tokens.refresh(account) })
    const { code, ok, lacks } = await check([broker.url], keysOf(home))
    expect([code, ok, lacks]).toEqual([1, [], ['gives one token to all who ask at the same time']])
    expect(home.emulator.counters.tokenRefreshes).toBe(before + 10)
  })
})

describe('the command', () => {
  it('takes the keys from standard input, and says what is not checked without a second one', async () => {
    const withOneKey = check([home.url], {}, home.key)
    const child = spawn(process.execPath, [join(import.meta.dirname, '../dist/main.js'), home.url], {
      env: { PATH: process.env['PATH'] },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    child.stdin.end(`${home.key}\n${home.revokedKey}\n`)
    const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
    expect([code, printed]).toEqual([0, expect.stringContaining('Required: 15 of 15 pass. ')])
    const words = 'not checked  rejects a revoked key: no second key was given'
    expect(await withOneKey).toMatchObject({ code: 0, printed: expect.stringContaining(words) })
  })

  it('takes a key as it stands in a file, with a byte order mark and the end of its line', async () => {
    const given = {
      OWNER_SSO_BROKER_KEY: `\uFEFF${home.key}\r\n`,
      OWNER_SSO_BROKER_REVOKED_KEY: ` ${home.revokedKey}\n`,
    }
    expect(await check([home.url], given)).toMatchObject({ code: 0 })
    expect(await check([home.url], {}, `\uFEFF${home.key}\r\n${home.revokedKey}\r\n`)).toMatchObject({ code: 0 })
  })

  const key = { OWNER_SSO_BROKER_KEY: 'some-key' }
  it.each<[string, string[], Record<string, string>, RegExp]>([
    ['no address', [], key, /^One address is needed/u],
    ['two addresses', ['http://127.0.0.1', 'http://127.0.0.1'], key, /^One address is needed/u],
    ['what is no address', ['some-key'], key, /^The address must be http:/u],
    ['another protocol', ['ftp://127.0.0.1'], key, /^The address must be http:/u],
    ['no TLS beyond this machine', ['http://broker.example'], key, /must be https:\/\//u],
    ['a user in the address', ['http://me:some-key@127.0.0.1'], key, /^The address has neither/u],
    ['a mistyped option', ['--kye=some-key', 'http://127.0.0.1'], key, /--kye[^=]*$/u],
    ['no key', ['http://127.0.0.1'], {}, /^There is no key\. Set OWNER_SSO_BROKER_KEY/u],
    ['a key of two words', ['http://127.0.0.1'], { OWNER_SSO_BROKER_KEY: 'Bearer some-key' }, /^A key is one word/u],
    [
      'the same key twice',
      ['http://127.0.0.1'],
      { ...key, OWNER_SSO_BROKER_REVOKED_KEY: 'some-key' },
      /^The two keys/u,
    ],
    ['a broker that is not there', ['http://127.0.0.1:1'], key, /^.*ECONNREFUSED/u],
    ['a socket that is not there', ['unix:/nowhere.sock'], key, /^.*ENOENT/u],
  ])('says what is wrong with %s', async (_what, args, env, words) => {
    const { code, complaint, printed } = await check(args, env)
    expect([code, printed]).toEqual([2, ''])
    expect(complaint).toMatch(words)
    expect(complaint).not.toContain('some-key')
  })

  it('says that there is no answer where another protocol is spoken', async () => {
    const answer = 'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: other\r\n\r\n'
    const server = createTcpServer((socket) => socket.once('data', () => socket.write(answer))).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const { code, complaint } = await check([`http://127.0.0.1:${port}`], key)
    expect([code, complaint]).toEqual([2, expect.stringContaining('no answer (the connection broke)')])
    server.close()
  })

  it('says that the broker rejects the key, or that the account has to sign in', async () => {
    const rejected = await check([home.url], key)
    expect([rejected.code, rejected.complaint]).toEqual([2, expect.stringMatching(/^The broker rejects the key\./u)])
    await using signedOut = await startHome()
    await signedOut.tokens.forget(account)
    expect(await check([signedOut.url], keysOf(signedOut))).toMatchObject({
      code: 2,
      complaint: 'The key’s account has to sign in at the broker first.\n',
    })
  })
})
