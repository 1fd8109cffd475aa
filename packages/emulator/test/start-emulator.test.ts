import { describe, expect, it } from '@jest/globals'
import { once } from 'node:events'
import { connect as connectHttp2 } from 'node:http2'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { request as httpsRequest } from 'node:https'
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { gzipSync } from 'node:zlib'
import { describeWithPrograms } from '../../../tests/support/programs.ts'
import { startEmulator, type Emulator } from '../src/index.ts'
import { Client, documentScope } from './client.ts'

describe('startEmulator', () => {
  it('has the three demo accounts', async () => {
    await using emulator = await startEmulator()
    expect(emulator.accounts.map(({ identity, credential, region }) => [identity, credential, region])).toEqual([
      ['plain@example.com', 'correct horse', 'home'],
      ['mfa@example.com', 'correct horse', 'home'],
      ['regional@example.com', 'correct horse', 'regional'],
    ])
    expect(emulator.accounts[1]?.passcode()).toMatch(/^\d{6}$/u)
    expect(emulator.accounts[1]?.passcode('Tablet')).not.toBe(emulator.accounts[1]?.passcode('Device #1'))
    expect(() => emulator.accounts[0]?.passcode()).toThrow(TypeError)
    await expect(emulator.issueTokens('nobody@example.com')).rejects.toThrow(TypeError)
  })

  it('has a regional instance of its own', async () => {
    await using emulator = await startEmulator()
    expect(emulator.regionalAuthUrl).not.toBe(emulator.authUrl)
    const client = new Client(emulator, { base: emulator.regionalAuthUrl })
    expect((await client.authorize('regional@example.com')).answer.status).toBe(302)
    expect((await client.authorize('plain@example.com')).answer.status).toBe(401)
    expect((await new Client(emulator).authorize('plain@example.com')).answer.status).toBe(302)
  })

  it('has the token endpoint of each instance at another port, and nowhere else, with tokenEndpointAt: port', async () => {
    await using emulator = await startEmulator({ tokenEndpointAt: 'port' })
    const places = [
      ['plain@example.com', emulator.authUrl, emulator.tokenUrl, emulator.regionalTokenUrl],
      ['regional@example.com', emulator.regionalAuthUrl, emulator.regionalTokenUrl, emulator.tokenUrl],
    ] as const
    for (const [identity, authUrl, tokenUrl, otherTokenUrl] of places) {
      const { refresh_token } = await emulator.issueTokens(identity)
      const grant = { grant_type: 'refresh_token', client_id: 'ownerapi', scope: documentScope, refresh_token }
      const statusAt = async (base: string): Promise<number> =>
        (await new Client(emulator, { base }).json('/oauth2/v3/token', grant)).status
      expect(await statusAt(authUrl)).toBe(404)
      expect(await statusAt(otherTokenUrl)).toBe(400)
      expect(await statusAt(tokenUrl)).toBe(200)
      expect((await new Client(emulator, { base: tokenUrl }).send('/oauth2/v3/authorize')).status).toBe(404)
      expect((await new Client(emulator, { base: authUrl }).authorize(identity)).answer.status).toBe(302)
    }
  })

  it('marks every answer as its own', async () => {
    await using emulator = await startEmulator()
    const paths = ['/', '/_emulator/state', '/nowhere', '/oauth2/v3/authorize', '/void/callback', '/%ff']
    for (const base of [emulator.authUrl, emulator.ownerApiUrl]) {
      for (const path of paths) {
        const { headers } = await fetch(base + path)
        expect(headers.get('x-owner-sso-emulator')).toBe('1')
        expect(headers.has('x-powered-by')).toBe(false)
        expect(headers.has('etag')).toBe(false)
      }
    }
  })

  it('has a start page with accounts and passcodes for this machine, not in the log, unless there is no inspector', async () => {
    await using emulator = await startEmulator()
    const [, mfa] = emulator.accounts
    const page = await fetch(emulator.authUrl)
    const shown = await page.text()
    expect(page.status).toBe(200)
    for (const part of [
      'plain@example.com',
      'correct horse',
      mfa?.passcode(),
      'href="/_emulator"',
      emulator.ownerApiUrl,
    ])
      expect(shown).toContain(part)
    const elsewhere = await fetch(emulator.authUrl, { headers: { 'sec-fetch-site': 'cross-site' } })
    expect([elsewhere.status, (await elsewhere.text()).includes('correct horse')]).toEqual([403, false])
    expect(emulator.requests).toEqual([])
    const { answer } = await new Client(emulator).authorize('plain@example.com', 'wrong')
    expect(answer.text).toContain('<a href="/"')
    await using bare = await startEmulator({ inspector: false })
    expect((await fetch(bare.authUrl)).status).toBe(404)
    expect((await new Client(bare).authorize('plain@example.com', 'wrong')).answer.text).not.toContain('<a href="/"')
  })

  it('answers unknown paths, unknown methods and the callback that does not exist with 404', async () => {
    await using emulator = await startEmulator()
    const client = new Client(emulator)
    expect((await client.send('/nowhere')).status).toBe(404)
    expect((await client.send('/oauth2/v3/token')).status).toBe(404)
    const callback = await client.send('/void/callback?code=x')
    expect([callback.status, callback.text.includes('Copy the whole address')]).toEqual([404, true])
  })

  it('takes a body of exactly 64 KiB, and rejects one byte more', async () => {
    await using emulator = await startEmulator()
    const client = new Client(emulator)
    const empty = JSON.stringify({ client_id: '' }).length
    const bodyOf = (bytes: number) => ({ client_id: 'x'.repeat(bytes - empty) })
    expect((await client.json('/oauth2/v3/token', bodyOf(65_536))).status).toBe(400)
    expect((await client.json('/oauth2/v3/token', bodyOf(65_537))).status).toBe(413)
  })

  it('takes no body that is compressed', async () => {
    await using emulator = await startEmulator({ strictness: 'lenient' })
    const body = gzipSync('{}')
    const init = { method: 'POST', body, headers: { 'content-encoding': 'gzip', 'content-type': 'application/json' } }
    const urls = [`${emulator.authUrl}/oauth2/v3/token`, `${emulator.ownerApiUrl}/oauth/token`]
    const statuses = await Promise.all(urls.map(async (url) => (await fetch(url, init)).status))
    expect(statuses).toEqual([415, 415])
  })

  it('answers what is no HTTP with a 400 beside HTTP/2, too', async () => {
    await using emulator = await startEmulator({ tls: true, http2: true })
    const socket = connectTls({ port: Number(new URL(emulator.authUrl).port), host: '127.0.0.1', ca: emulator.ca })
    socket.write('no http at all\r\n\r\n')
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\nx-owner-sso-emulator: 1\r\n/u)
  })

  it('answers what is no HTTP with a 400, headers that are too long with a 431, and ends the connection', async () => {
    await using emulator = await startEmulator()
    const answer = 'x-owner-sso-emulator: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'
    expect(await raw(emulator, 'SSH-2.0-OpenSSH\r\n\r\n')).toBe(`HTTP/1.1 400 Bad Request\r\n${answer}`)
    const head = `GET / HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(17_000)}\r\n\r\n`
    expect(await raw(emulator, head)).toBe(`HTTP/1.1 431 Request Header Fields Too Large\r\n${answer}`)
  })

  it('answers an expectation that it can’t meet with a 417, and ends the connection', async () => {
    await using emulator = await startEmulator()
    const answer = await raw(emulator, 'GET / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n')
    expect(answer.replace(/Date: [^\r]*\r\n/u, '')).toBe(
      'HTTP/1.1 417 Expectation Failed\r\nx-owner-sso-emulator: 1\r\nconnection: close\r\ncontent-length: 0\r\n\r\n',
    )
  })

  it('does not start in production', async () => {
    const before = process.env['NODE_ENV']
    process.env['NODE_ENV'] = 'production'
    try {
      await expect(startEmulator()).rejects.toThrow(/NODE_ENV=production/u)
    } finally {
      process.env['NODE_ENV'] = before
    }
  })

  it('reports a busy port and leaves nothing open', async () => {
    await using first = await startEmulator()
    const port = Number(new URL(first.authUrl).port)
    await expect(startEmulator({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    const ownerApiPort = Number(new URL(first.ownerApiUrl).port)
    await expect(startEmulator({ ownerApiPort })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    const gone = await startEmulator()
    await gone.close()
    const free = Number(new URL(gone.authUrl).port)
    await expect(startEmulator({ port: free, ownerApiPort })).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await using again = await startEmulator({ port: free })
    expect(again.authUrl).toBe(gone.authUrl)
  })

  it('takes no port that another program has on IPv6: localhost would lead there', async () => {
    const other = createServer()
    other.listen(0, '::1')
    const heard = await Promise.race([
      once(other, 'listening').then(() => true),
      once(other, 'error').then(() => false),
    ])
    const address = other.address()
    // Without IPv6 there is no other half.
    if (!heard || typeof address !== 'object' || !address) return
    const outcome = await startEmulator({ port: address.port }).catch((error: unknown) => error)
    other.close()
    expect(outcome).toMatchObject({ code: 'EADDRINUSE' })
  })

  it('ends open connections when it closes', async () => {
    const emulator = await startEmulator()
    emulator.always('login-page', { hold: new Promise(() => undefined) })
    const socket = connect(Number(new URL(emulator.authUrl).port), '127.0.0.1')
    socket.write('GET /oauth2/v3/authorize HTTP/1.1\r\nHost: x\r\n\r\n')
    while (emulator.requests.length === 0) await new Promise(setImmediate)
    await Promise.all([once(socket, 'close'), emulator.close()])
    expect(socket.destroyed).toBe(true)
  })

  it('ends the connections of HTTP/2 when it closes', async () => {
    const emulator = await startEmulator({ tls: true, http2: true, strictness: 'lenient' })
    emulator.always('login-page', { hold: new Promise(() => undefined) })
    const session = connectHttp2(emulator.authUrl, { ca: emulator.ca })
    session.on('error', () => undefined)
    session.request({ ':path': '/oauth2/v3/authorize' }).on('error', () => undefined)
    while (emulator.requests.length === 0) await new Promise(setImmediate)
    await Promise.all([once(session, 'close'), emulator.close()])
    expect(session.destroyed).toBe(true)
  })
})

describe('the clock', () => {
  it('settles the passcodes of RFC 6238', async () => {
    const account = { identity: 'a@example.com', credential: 'x', totpSecret: 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' }
    await using emulator = await startEmulator({ accounts: [account] })
    emulator.clock.freeze()
    const passcodes = [59, 1_111_111_109, 2_000_000_000].map((moment) => {
      emulator.clock.jump(moment)
      return emulator.account(account.identity).passcode()
    })
    expect(passcodes).toEqual(['287082', '081804', '279037'])
  })
})

describe('TLS', () => {
  const path = '/oauth2/v3/authorize'
  const send = async (
    emulator: Emulator,
    url: string,
    maxVersion: 'TLSv1.2' | 'TLSv1.3',
    ca: string | undefined = emulator.ca,
  ): Promise<number | undefined> => {
    const [answer] = await once(httpsRequest(url + path, { ca, maxVersion, agent: false }).end(), 'response')
    answer.resume()
    return answer.statusCode
  }

  it('has a certificate for every name, and gives its CA', async () => {
    await using emulator = await startEmulator({ tls: true })
    expect(emulator.ca).toMatch(/^-----BEGIN CERTIFICATE-----/u)
    const names = [emulator.authUrl, emulator.regionalAuthUrl, emulator.ownerApiUrl]
    expect(names.every((url) => url.startsWith('https://'))).toBe(true)
    expect(await send(emulator, emulator.authUrl, 'TLSv1.2')).toBe(400)
    expect(await send(emulator, emulator.regionalAuthUrl, 'TLSv1.2')).toBe(400)
    expect(emulator.requests.at(-1)?.tlsVersion).toBe('TLSv1.2')
    await expect(send(emulator, emulator.authUrl, 'TLSv1.2', '')).rejects.toMatchObject({
      code: expect.stringMatching(/UNABLE_TO|SELF_SIGNED/u),
    })
  })

  describeWithPrograms('python3')('for Python from 3.13 on', () => {
    it('has certificates that pass strict checks', async () => {
      await using emulator = await startEmulator({ tls: true })
      const python = `
import ssl, sys, urllib.request
context = ssl.create_default_context(cadata=sys.argv[2])
context.verify_flags |= ssl.VERIFY_X509_STRICT # as 3.13 does by itself
print(urllib.request.urlopen(sys.argv[1], context=context).status)`
      const { stdout } = await promisify(execFile)('python3', ['-c', python, emulator.authUrl, emulator.ca ?? ''])
      expect(stdout).toBe('200\n')
    })
  })

  it('serves a TLS 1.3 client with strictness lenient', async () => {
    await using emulator = await startEmulator({ tls: true, strictness: 'lenient' })
    expect(await send(emulator, emulator.authUrl, 'TLSv1.3')).toBe(400)
    expect(emulator.requests.at(-1)?.tlsVersion).toBe('TLSv1.3')
  })

  it('answers a TLS 1.3 client with the challenge', async () => {
    await using emulator = await startEmulator({ tls: true })
    expect(await send(emulator, emulator.authUrl, 'TLSv1.3')).toBe(403)
    expect(emulator.counters.challenges).toBe(1)
    expect(await send(emulator, emulator.authUrl, 'TLSv1.2')).toBe(400)
  })
})

async function raw(emulator: Emulator, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(emulator.authUrl).port), '127.0.0.1')
  socket.end(bytes)
  let answer = ''
  for await (const chunk of socket) answer += String(chunk)
  return answer
}
