import type { ChildProcess } from 'node:child_process'
import { createServer, request } from 'node:http'
import { once } from 'node:events'
import { useEmulator } from '@owner-sso/emulator/jest'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { freePort } from '../../../tests/support/free-port.ts'
import { ended, type Machine, newMachine } from './machine.ts'

const emulator = useEmulator()
let machine: Machine

beforeEach(async () => {
  machine = newMachine(emulator)
  await machine.signIn('plain@example.com')
})
afterEach(async () => {
  machine.remove()
})

describe('owner-sso proxy', () => {
  it('prints its address, calls the owner API with the token, and ends on Ctrl-C', async () => {
    const { child, url } = await started()
    const answer = await fetch(`${url}/api/1/vehicles`)
    expect(await answer.json()).toMatchObject({ count: 2 })
    const end = ended(child)
    child.kill('SIGINT')
    expect((await end).code).toBe(0)
  })

  it('listens on loopback alone', async () => {
    const { url } = await started()
    expect(new URL(url).hostname).toBe('127.0.0.1')
  })

  it.each([
    ['a page of another site', { origin: 'https://evil.example' }],
    ['a page that a browser says is of another site', { 'sec-fetch-site': 'cross-site' }],
    ['a name that was made to lead here', { host: 'evil.example' }],
  ])('refuses %s', async (_name, headers) => {
    const { url } = await started()
    const calls = emulator.counters.ownerApiCalls
    expect(await statusOf(`${url}/api/1/vehicles`, headers)).toBe(403)
    expect(emulator.counters.ownerApiCalls).toBe(calls)
  })

  it('refuses other paths, and upgrades', async () => {
    const { url } = await started()
    expect(await statusOf(`${url}/admin`, {})).toBe(404)
    expect(await statusOf(`${url}/api/1/vehicles`, { connection: 'upgrade', upgrade: 'websocket' })).toBe(501)
    // Offered by clients of HTTP/2 with every call over plain http.
    expect(await statusOf(`${url}/api/1/vehicles`, { connection: 'upgrade', upgrade: 'h2c' })).toBe(200)
  })

  it('answers for an owner API that can’t be reached in one fixed sentence, and says the rest to whoever runs it', async () => {
    const port = await freePort()
    const { child, url } = await started({ OWNER_SSO_API_URL: `http://127.0.0.1:${port}` })
    const end = ended(child)
    const answer = await fetch(`${url}/api/1/vehicles`)
    const text = await answer.text()
    expect(answer.status).toBe(502)
    expect(text).not.toMatch(/ECONN|127\.0\.0\.1/u)
    child.kill('SIGINT')
    const { stderr } = await end
    expect(stderr).toMatch(new RegExp(`^ERR_OWNER_API_UNREACHABLE: .*ECONNREFUSED.*:${port}$`, 'mu'))
  })

  it('says at once where the account is not signed in, the port is taken, or no owner API is named', async () => {
    expect((await machine.run(['proxy', '--account', 'nobody@example.com'])).code).toBe(3)
    const taken = createServer().listen(0, '127.0.0.1')
    await once(taken, 'listening')
    const address = taken.address()
    const port = typeof address === 'object' ? address?.port : 0
    const { code, stderr } = await machine.run(['proxy', '--port', String(port)])
    taken.close()
    expect(code).toBe(2)
    expect(stderr).toContain('EADDRINUSE')
    expect((await machine.run(['proxy', '--port', '65536'])).code).toBe(2)
    for (const OWNER_SSO_API_URL of ['', 'ftp://owner.example', 'http://owner.example']) {
      const wrong = await machine.run(['proxy'], { env: { OWNER_SSO_API_URL } })
      expect(wrong.code).toBe(2)
      expect(wrong.stderr).toMatch(/owner API/u)
    }
  })
})

async function started(env: NodeJS.ProcessEnv = {}): Promise<{ child: ChildProcess; url: string }> {
  const child = machine.start(['proxy'], { env })
  if (!child.stdout) throw new Error('It has no output')
  const [chunk] = await once(child.stdout, 'data')
  return { child, url: String(chunk).trim() }
}

function statusOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
      .on('error', reject)
      .end()
  })
}
