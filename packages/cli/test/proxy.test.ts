/** `owner-sso proxy`: the owner API at a local address, for this machine alone. */
import { once } from 'node:events'
import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { useEmulator } from '@owner-sso/emulator/jest'
import { beforeEach, describe, expect, it } from '@jest/globals'
import { freePort } from '../../../tests/support/free-port.ts'
import { type Ended, ended, useMachine } from './machine.ts'
import { storeLogin } from './signed-in.ts'

const emulator = useEmulator()
const machine = useMachine(emulator)

beforeEach(async () => {
  await storeLogin(machine, emulator, 'plain@example.com')
})

interface Running {
  /** What it printed first. */
  readonly printed: string
  readonly stop: () => Promise<Ended>
}

async function started(...args: string[]): Promise<Running> {
  const child = machine.start(['proxy', ...args])
  const end = ended(child)
  const stop = (): Promise<Ended> => {
    child.kill('SIGINT')
    return end
  }
  const [printed]: unknown[] = await Promise.race([
    child.stdout ? once(child.stdout, 'data') : [],
    end.then(({ stderr }) => Promise.reject(new Error(stderr))),
  ])
  return { printed: String(printed).trim(), stop }
}

async function answered(url: string, headers: Record<string, string> = {}): Promise<{ status: number; body: string }> {
  const [answer] = await once(request(url, { headers }).end(), 'response')
  return { status: answer.statusCode, body: await text(answer) }
}

it('calls the owner API with the token of the account, until Ctrl-C', async () => {
  const { printed: url, stop } = await started()
  const { status, body } = await answered(`${url}/api/1/vehicles`)
  expect([status, JSON.parse(body).count]).toEqual([200, 2])
  // Offered by clients of HTTP/2 with every call over plain http.
  expect((await answered(`${url}/api/1/vehicles`, { connection: 'upgrade', upgrade: 'h2c' })).status).toBe(200)
  expect(await stop()).toMatchObject({ code: 0, stderr: expect.stringContaining(`Calls to ${url}/api/1/… go to`) })
  await expect(answered(url)).rejects.toThrow('ECONNREFUSED')
})

describe('a call from elsewhere, or not for the owner API, is not forwarded', () => {
  it.each<[string, string, Record<string, string>, number]>([
    ['a page of another site', '/api/1/vehicles', { origin: 'https://evil.example' }, 403],
    ['one that a browser says is of another site', '/api/1/vehicles', { 'sec-fetch-site': 'cross-site' }, 403],
    ['a name that leads here (DNS rebinding)', '/api/1/vehicles', { host: 'evil.example' }, 403],
    ['one that ends in our address', '/api/1/vehicles', { host: 'evil.127.0.0.1' }, 403],
    ['one that begins with it', '/api/1/vehicles', { host: '127.0.0.1.evil.example' }, 403],
    ['another path', '/admin', {}, 404],
    ['a socket', '/api/1/vehicles', { connection: 'upgrade', upgrade: 'websocket' }, 501],
  ])('%s', async (_what, path, headers, status) => {
    const { printed: url, stop } = await started()
    const calls = emulator.counters.ownerApiCalls
    expect((await answered(`${url}${path}`, headers)).status).toBe(status)
    expect(emulator.counters.ownerApiCalls).toBe(calls)
    await stop()
  })

  it('a call by any name of this machine is forwarded', async () => {
    const { printed: url, stop } = await started()
    for (const host of ['LocalHost:12345', '[::1]:1'])
      expect([host, (await answered(`${url}/api/1/vehicles`, { host })).status]).toEqual([host, 200])
    await stop()
  })
})

it('only whoever runs it is told why the owner API can’t be reached', async () => {
  const port = await freePort()
  const { printed, stop } = await started('--json', '--api-url', `http://127.0.0.1:${port}`)
  const { url, account } = JSON.parse(printed)
  expect(account).toBe('plain@example.com')
  const { status, body } = await answered(`${url}/api/1/vehicles`)
  expect([status, body]).toEqual([502, expect.not.stringMatching(/ECONN|127\.0\.0\.1/u)])
  const notes = (await stop()).stderr.trim().split('\n')
  expect(notes.map((line) => JSON.parse(line).note)).toContainEqual(
    expect.stringMatching(new RegExp(`^ERR_OWNER_API_UNREACHABLE: .*ECONNREFUSED.*:${port}$`, 'u')),
  )
})

it('says at the start that nobody is signed in, or that the port is taken', async () => {
  const taken = new URL(emulator.authUrl).port
  expect(await machine.run(['proxy', '--port', taken])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Give another --port'),
  })
  expect(await machine.run(['proxy', '--account', 'nobody@example.com'])).toMatchObject({ code: 3, stdout: '' })
})
