/** Bytes that are no HTTP, or nearly: a refusal or a closed connection, and an emulator that goes on and tells nobody's secret. */
import { afterEach, describe, expect, it } from '@jest/globals'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import * as fc from 'fast-check'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { anyText } from '../../../../tests/support/any-text.ts'
import { runs } from '../../../../tests/support/runs.ts'
import { useEmulator } from '../../src/jest.ts'
import { Client, demoCredential } from '../client.ts'

const emulator = useEmulator({ firewall: false })
const canary = 'canary-77aa'

/** What comes back until the connection is over; we end our side once everything is written. */
async function talk(url: string, bytes: string | Buffer): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let said = ''
  socket.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  let isLate = false
  socket.setTimeout(5000, () => {
    isLate = true
    socket.destroy()
  })
  socket.end(bytes)
  await once(socket, 'close')
  expect(isLate).toBe(false)
  return said
}

const paths = ['/oauth2/v3/authorize', '/oauth2/v3/token', '/_emulator/state', '/%', '*', '', 'http://x/']
const target = fc.constantFrom(...paths, `/?code=${canary}`)
const lines = ['GET / HTTP/9.9', 'GET /', 'POST', '', ' ', 'get / http/1.1', 'PRI * HTTP/2.0', 'CONNECT x:1 HTTP/1.1']
const line = fc.oneof(
  target.map((where) => `POST ${where} HTTP/1.1`),
  fc.constantFrom(...lines, `${canary} / HTTP/1.1`),
)
const headerLines = [
  [
    'Host: 127.0.0.1',
    'Host:',
    'Host: a\r\nHost: b',
    'Content-Length: 5',
    'Content-Length: -1',
    'Content-Length: 9999999',
  ],
  ['Transfer-Encoding: chunked', 'Transfer-Encoding: chunked, identity', 'Expect: 100-continue', 'TE: trailers'],
  ['Content-Type: application/json', 'Content-Type: application/x-www-form-urlencoded', `Cookie: ${canary}`],
  [`Authorization:${canary}`, 'Connection: upgrade', 'Upgrade: websocket', ': x', 'no colon', '\u0000: x', ' folded'],
]
const header = fc.constantFrom(...headerLines.flat(), `X: ${'y'.repeat(20_000)}`)
const bodies = ['', 'hello', '5\r\nhello\r\n0\r\n\r\n', 'zz\r\nhello', '5\r\nhel', 'FFFFFFFFFF\r\n']
const body = fc.oneof(fc.constantFrom(...bodies, `credential=${canary}`), anyText({ maxLength: 200 }))
const message = fc
  .tuple(line, fc.array(header, { maxLength: 5 }), body, fc.constantFrom('\r\n', '\n', '\r'), fc.nat(400))
  .map(([first, headers, rest, end, cut]) => {
    const whole = [first, ...headers, '', rest].join(end)
    return cut < 100 ? whole.slice(0, cut) : whole
  })
/** One mistake at most. */
const nearly = fc.tuple(target, fc.array(header, { maxLength: 1 }), body).map(([where, headers, rest]) => {
  const length = `Content-Length: ${Buffer.byteLength(rest, 'latin1')}`
  return [`POST ${where} HTTP/1.1`, 'Host: 127.0.0.1', length, ...headers, '', rest].join('\r\n')
})

describe('broken HTTP', () => {
  it('gets a 4xx or the end of the connection, never a 500, and no log shows a secret of it', async () => {
    const property = fc.asyncProperty(
      fc.constantFrom(emulator.authUrl, emulator.ownerApiUrl),
      fc.oneof(
        message,
        nearly,
        fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1')),
      ),
      async (url, bytes) => {
        const said = await talk(url, Buffer.from(bytes, 'latin1'))
        expect(said).toMatch(/^(?:$|HTTP\/1\.1 [1-4]\d\d )/u)
        expect(said).not.toContain(canary)
      },
    )
    await fc.assert(property, { numRuns: runs(200) })
    expect(await new Client(emulator).login('plain@example.com')).toMatchObject({ token_type: 'Bearer' })
    expect(emulator.requests.length).toBeGreaterThan(5)
    expect(JSON.stringify(emulator.requests)).not.toContain(canary)
  }, 120_000)

  it('a client that goes away in the middle of anything is no failure', async () => {
    const { refresh_token } = await emulator.issueTokens('plain@example.com')
    const sent = JSON.stringify({
      grant_type: 'refresh_token',
      client_id: 'ownerapi',
      refresh_token,
      scope: 'openid email offline_access',
    })
    const head = `POST /oauth2/v3/token HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${sent.length}\r\n\r\n`
    for (let cut = 1; cut < head.length + sent.length; cut += 7) {
      const socket = connect(Number(new URL(emulator.authUrl).port), '127.0.0.1')
      socket.on('error', () => undefined)
      socket.write((head + sent).slice(0, cut), () => socket.resetAndDestroy())
      await once(socket, 'close')
    }
    expect(emulator.counters.tokenRefreshes).toBe(0)
    expect(await new Client(emulator).login('plain@example.com')).toMatchObject({ token_type: 'Bearer' })
  })
})

describe('the command', () => {
  let child: ChildProcess | undefined
  afterEach(() => void child?.kill('SIGKILL'))

  it('prints no secret of its clients, and ends with code 0', async () => {
    const command = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
    const running = spawn(process.execPath, [command], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child = running
    let printed = ''
    for (const stream of [running.stdout, running.stderr])
      stream.on('data', (chunk: Buffer) => (printed += chunk.toString()))
    while (!/SSO service/u.test(printed)) await once(running.stdout, 'data')
    const authUrl = /SSO service\s+(\S+)/u.exec(printed)?.[1] ?? ''
    const greeted = printed.length
    const client = new Client({ authUrl })
    const tokens = await client.login('plain@example.com')
    await client.refresh(tokens['refresh_token'])
    await client.json('/oauth2/v3/token', { grant_type: 'refresh_token', refresh_token: canary })
    await talk(
      authUrl,
      `POST /oauth2/v3/token HTTP/1.1\r\nHost: x\r\nCookie: ${canary}\r\nContent-Length: -1\r\n\r\n${demoCredential}`,
    )
    running.kill('SIGINT')
    expect(await once(running, 'close')).toEqual([0, null])
    const said = printed.slice(greeted)
    const secrets = [canary, demoCredential, client.verifier, ...client.cookies.values(), ...Object.values(tokens)]
    expect(secrets.filter((secret) => secret.length > 6 && said.includes(secret))).toEqual([])
  })
})
