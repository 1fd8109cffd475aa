import { get, type RequestOptions } from 'node:https'
import { type Emulator, type EmulatorOptions, startEmulator } from '@owner-sso/emulator'
import { afterEach, describe, expect, it } from '@jest/globals'
import { credential, type Ended, type Machine, newMachine } from './machine.ts'

const account = 'plain@example.com'
let emulator: Emulator
let machine: Machine
let env: NodeJS.ProcessEnv

afterEach(async () => {
  machine.remove()
  await emulator.close()
})

/** A machine with an account whose last refresh is more than a minute ago. */
async function start(options: EmulatorOptions = {}): Promise<void> {
  emulator = await startEmulator({ tls: true, http2: true, firewall: false, ...options })
  machine = newMachine(emulator)
  env = { OWNER_SSO_CA: machine.file('ca.pem', emulator.ca ?? ''), OWNER_SSO_CREDENTIAL: credential }
  expect(await machine.run(['login', '--account', account], { env })).toMatchObject({ code: 0 })
}

const live = (...args: string[]): Promise<Ended> =>
  machine.run(['doctor', '--live', '--account', account, ...args], { env, ahead: 120 })
const sent = () => {
  const { refreshRequests, ownerApiCalls, ownerApiRefusals, ownerApiRejections } = emulator.counters
  return { refreshRequests, calls: ownerApiCalls + ownerApiRefusals + ownerApiRejections }
}
describe('owner-sso doctor --live', () => {
  it('sends nothing without consent', async () => {
    await start()
    const requests = emulator.requests.length
    const { code, stderr } = await live()
    expect(code).toBe(2)
    expect(stderr).toContain('--yes')
    expect(emulator.requests.length).toBe(requests)
  })

  it.each([
    ['document', 'TLSv1.2 and HTTP/1.1'],
    ['modern', 'TLSv1.3 and HTTP/2'],
  ])('makes one refresh and one call, and says what was agreed: %s', async (transport, agreed) => {
    await start()
    const { code, stdout } = await live('--yes', '--transport', transport)
    expect(stdout).toContain(agreed)
    expect(stdout).toContain('accepts the token (200)')
    expect(code).toBe(0)
    expect(sent()).toEqual({ refreshRequests: 1, calls: 1 })
  })

  it.each([
    ['document', { tls: 'TLSv1.3', http: '2' }],
    ['modern', { tls: 'TLSv1.2' }],
  ] as const)(
    'names the way to another transport where the token is refused, and makes no second refresh: %s',
    async (from, mintedBy) => {
      await start({ mintedBy })
      const refused = await live('--yes', '--transport', from)
      expect(refused.code).toBe(2)
      expect(refused.stdout).toContain('refuses the token')
      expect(refused.stdout).toContain('--live --find-transport')
      expect(refused.stdout).not.toMatch(/sign in again/iu)
      expect(sent()).toEqual({ refreshRequests: 1, calls: 1 })
    },
  )

  it('makes one call where the owner API answers 401, and no second refresh', async () => {
    await start()
    emulator.always('owner-api', { status: 401, body: {} })
    const { code, stdout } = await live('--yes')
    expect(code).toBe(2)
    expect(stdout).toContain('401')
    expect(emulator.counters.refreshRequests).toBe(1)
  })

  it('sends no refresh where there was one a moment ago, and says so', async () => {
    await start()
    const again = (): Promise<Ended> => machine.run(['doctor', '--live', '--yes', '--account', account], { env })
    expect((await again()).code).toBe(0)
    const { code, stdout } = await again()
    expect(code).toBe(0)
    expect(stdout).toContain('less than a minute ago')
    expect(sent()).toEqual({ refreshRequests: 1, calls: 2 })
  })

  it('says who is not signed in, and shows no token', async () => {
    await start()
    const stranger = await machine.run(['doctor', '--live', '--yes', '--account', 'bob@example.com'], { env })
    expect(stranger.code).toBe(3)
    expect(stranger.stdout).toContain('bob@example.com is not signed in')
    const json = await live('--yes', '--json')
    expect(JSON.parse(json.stdout).findings.map(({ about }: { about: string }) => about)).toEqual(
      expect.arrayContaining(['live refresh', 'live call']),
    )
    expect(json.stdout + json.stderr).not.toMatch(/ey[\w-]{20}/u)
  })
})

describe('owner-sso doctor --live --find-transport', () => {
  const find = (ahead = 120): Promise<Ended> =>
    machine.run(['doctor', '--live', '--find-transport', '--yes', '--account', account], { env, ahead })
  const tried = ({ stdout }: Ended): string[] =>
    stdout
      .split('\n')
      .flatMap((line) => /(\S+) +minted over .*: (accepted|refused)/u.exec(line)?.slice(1, 3).join(' ') ?? [])

  it.each<[string, EmulatorOptions['mintedBy'], readonly string[]]>([
    ['tls13-http1', { tls: 'TLSv1.3', http: '1.1' }, ['tls13-http1 accepted']],
    [
      'document',
      { tls: 'TLSv1.2', http: '1.1' },
      ['tls13-http1 refused', 'modern refused', 'tls12-http2 refused', 'document accepted'],
    ],
  ])('finds %s with one refresh for each that it tries, and keeps it', async (transport, mintedBy, rows) => {
    await start({ mintedBy })
    const found = await find()
    expect(tried(found)).toEqual(rows)
    expect(found).toMatchObject({ code: 0, stdout: expect.stringContaining(`${transport} is kept in`) })
    expect(emulator.counters.refreshRequests).toBe(rows.length)
    // A month of refreshes later, nothing is tried again.
    expect(await machine.run(['refresh'], { env, ahead: 30 * 86_400 })).toMatchObject({ code: 0 })
    const again = await find(30 * 86_400)
    expect(again).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing was tried') })
    expect(emulator.counters.refreshRequests).toBe(rows.length + 1)
  })

  it('leaves the token that works in its place where none is accepted', async () => {
    await start()
    // The sign-in was made before: its token is good for its whole life.
    emulator.change({ refreshedTokens: { status: 403 } })
    const { code, stdout } = await find()
    expect(code).toBe(2)
    expect(stdout).toContain('The owner API refuses what each of them mints.')
    expect(emulator.counters.refreshRequests).toBe(4)
    const token = await machine.run(['token'], { env, ahead: 120 })
    const headers = { authorization: `Bearer ${token.stdout.trim()}` }
    const { status } = await ask(`${emulator.ownerApiUrl}/api/1/vehicles`, { headers, ca: emulator.ca })
    expect(status).toBe(200)
  })

  it('sends nothing without consent, and is no option without --live', async () => {
    await start()
    const requests = emulator.requests.length
    for (const args of [
      ['--live', '--find-transport'],
      ['--find-transport', '--yes'],
    ])
      expect((await machine.run(['doctor', ...args], { env })).code).toBe(2)
    expect(emulator.requests.length).toBe(requests)
  })
})

function ask(url: string, options: RequestOptions): Promise<{ status: number | undefined }> {
  return new Promise((resolve, reject) => {
    get(url, options, (answer) => resolve({ status: answer.resume().statusCode })).on('error', reject)
  })
}
