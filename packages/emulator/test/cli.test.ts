import { afterEach, describe, expect, it } from '@jest/globals'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startEmulator } from '../src/index.ts'
import { optionNames } from '../src/options/option-table.ts'
import { Client } from './client.ts'

const command = fileURLToPath(new URL('../dist/cli.js', import.meta.url))
const running: ChildProcess[] = []
afterEach(() => {
  for (const child of running.splice(0)) child.kill('SIGKILL')
})

function run(...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [command, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  running.push(child)
  return child
}

/** Everything it prints until it ends. */
async function outcome(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const child = run(...args)
  const printed = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.on('data', (chunk: Buffer) => {
      printed[name] += chunk.toString()
    })
  }
  const [code] = await once(child, 'close')
  return { code: Number(code), ...printed }
}

describe('npx @owner-sso/emulator', () => {
  it('prints addresses and accounts, serves, and ends on Ctrl-C', async () => {
    const child = run('--mfa-at', 'form-submission', '--allow-browsers')
    const [greeting] = await once(child.stdout ?? child, 'data')
    const text = String(greeting)
    expect(text).toMatch(/plain@example\.com\s+correct horse/u)
    expect(text).toMatch(/mfa@example\.com\s+correct horse\s+passcode of Device #1, Tablet/u)
    const address = /SSO service\s+(\S+)/u.exec(text)?.[1] ?? ''
    expect((await fetch(`${address}/void/callback`)).status).toBe(404)
    child.kill('SIGINT')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it('tells the program of the registered application, whose secret is in a file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'owner-sso-emulator-'))
    const file = join(folder, 'secret')
    const child = run('--service', 'registered', '--client-secret-file', file, '--client-id', 'my-app')
    const [greeting] = await once(child.stdout ?? child, 'data')
    expect(String(greeting)).toMatch(/OWNER_SSO_SERVICE=registered\n +export OWNER_SSO_CLIENT_ID=my-app\n/u)
    expect(String(greeting)).toContain(`export OWNER_SSO_CLIENT_SECRET_FILE=${file}\n`)
    expect(String(greeting)).not.toContain('emulated-secret')
    expect([await readFile(file, 'utf8'), (await stat(file)).mode & 0o777]).toEqual(['emulated-secret\n', 0o600])
    for (const half of [
      ['--service', 'registered'],
      ['--client-secret-file', file],
    ]) {
      const { code, stderr } = await outcome(...half)
      expect([code, stderr]).toEqual([2, expect.stringContaining('need each other')])
    }
    await rm(folder, { recursive: true })
  })

  it('names the inspector’s address, and serves it from what was built; --no-inspector leaves it out', async () => {
    const child = run()
    const [greeting] = await once(child.stdout ?? child, 'data')
    const address = /inspector\s+(\S+\/_emulator)\n/u.exec(String(greeting))?.[1] ?? ''
    const page = await (await fetch(address)).text()
    const files = [...page.matchAll(/"(\/_emulator\/assets\/[^"]+)"/gu)].map(([, file = '']) => file)
    expect(files).toHaveLength(2)
    for (const file of files) expect([file, (await fetch(new URL(file, address))).status]).toEqual([file, 200])

    const without = run('--no-inspector')
    const [words] = await once(without.stdout ?? without, 'data')
    expect(String(words)).not.toContain('inspector')
    expect(String(words)).not.toContain('--ca-file')
    const [ofTls] = await once(run('--tls').stdout ?? without, 'data')
    expect(String(ofTls)).toContain(
      '\n  certificates    are its own: with --ca-file ca.pem, a program can trust them\n',
    )
    const service = /SSO service\s+(\S+)/u.exec(String(words))?.[1] ?? ''
    expect((await fetch(`${service}/_emulator`)).status).toBe(404)
  })

  it('prints the environment that a program needs, as a shell takes it', async () => {
    const accounts = [{ identity: "o'neill@example.com", credential: 'it’s $HOME "and" `more`' }]
    const folder = await mkdtemp(join(tmpdir(), 'emulator-'))
    const file = join(folder, 'the ca.pem')
    const child = run('--accounts', JSON.stringify(accounts), '--tls', '--ca-file', file, '--token-endpoint-at', 'port')
    const [greeting] = await once(child.stdout ?? child, 'data')
    const lines = String(greeting).match(/^ +export .+$/gmu) ?? []
    const print = 'console.log(JSON.stringify(process.env))'
    const { stdout } = await promisify(execFile)('sh', [
      '-c',
      `${lines.join('\n')}\n"$0" -e '${print}'`,
      process.execPath,
    ])
    const address = (name: string): string => new RegExp(`${name} +(\\S+)`, 'u').exec(String(greeting))?.[1] ?? 'none'
    const environment = JSON.parse(stdout)
    expect(JSON.parse(environment.OWNER_SSO_TOKEN_URL)).toEqual({
      [address('SSO service')]: address('token endpoint'),
      [address('other region')]: address('token endpoint').replace('127.0.0.1', 'localhost'),
    })
    expect(environment).toMatchObject({
      OWNER_SSO_AUTH_URL: address('SSO service'),
      OWNER_SSO_REGIONAL_AUTH_URLS: address('other region'),
      OWNER_SSO_API_URL: address('owner API'),
      OWNER_SSO_ACCOUNT: accounts[0]?.identity,
      OWNER_SSO_CREDENTIAL: accounts[0]?.credential,
      NODE_EXTRA_CA_CERTS: file,
    })
    expect(await readFile(file, 'utf8')).toMatch(/BEGIN CERTIFICATE/u)
    await rm(folder, { recursive: true })
  })

  it('prints the passcodes of the moment when a sign-in asks for one', async () => {
    const child = run()
    const [greeting] = await once(child.stdout ?? child, 'data')
    const authUrl = /SSO service +(\S+)/u.exec(String(greeting))?.[1] ?? ''
    const client = new Client({ authUrl })
    const step = await client.reachPasscode()
    const said = once(child.stdout ?? child, 'data')
    const factors = await client.factors(step.transaction_id)
    const [line] = await said
    const words = /^ {2}mfa@example\.com is asked for a passcode: Device #1 \d{6}, Tablet (?<passcode>\d{6})\n$/u
    const passcode = words.exec(String(line))?.groups?.['passcode']
    // Nobody reads what it prints any more (`| head`): it goes on.
    child.stdout?.destroy()
    expect((await client.factors(step.transaction_id)).status).toBe(200)
    expect((await client.factors(step.transaction_id)).status).toBe(200)
    const { data }: { data: { id: string }[] } = JSON.parse(factors.text)
    const { transaction_id, csrf } = step
    const verified = await client.json('/oauth2/v3/authorize/mfa/verify', {
      transaction_id,
      factor_id: data[1]?.id,
      passcode,
      _csrf: csrf,
    })
    expect(JSON.parse(verified.text)).toMatchObject({ data: { valid: true } })
  })

  it('explains that a port is taken, and fails', async () => {
    await using emulator = await startEmulator()
    const { port } = new URL(emulator.authUrl)
    expect(await outcome('--port', port)).toEqual({
      code: 2,
      stdout: '',
      stderr: `@owner-sso/emulator: Port ${port} is taken. Choose another --port or --owner-api-port, or leave it out for any free one.\n`,
    })
  })

  it('has help in columns, with a flag for each option and its default, and a version', async () => {
    const { stdout } = await outcome('--help')
    const dashed = (name: string): string => name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)
    const without = optionNames.filter((name) => !new RegExp(`^ {2}--(?:no-)?${dashed(name)}\\b`, 'mu').test(stdout))
    expect(without).toEqual([])
    expect(stdout).toContain(`
  --mfa-at <value>                       When the passcode page comes: code-exchange (default), form-submission
`)
    const rows = stdout.split('\n').filter((row) => row.startsWith('  ') && !row.startsWith('  npx '))
    expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(111)
    expect((await outcome('--version')).stdout).toMatch(/^\d+\.\d+\.\d+\n$/u)
  })
})

describe('its flags', () => {
  it('set every kind of option and switch', async () => {
    const flags = [
      ['--access-token-format', 'opaque', '--hidden-inputs', '{"rename":{"_csrf":"check"}}', '--latency', '5'],
      ['--expires-in', 'null', '--no-firewall'],
      ['--scenario', 'rotation-lost', '--scenario', 'firewall-block', '--mfa-at', 'form-submission'],
    ]
    const child = run(...flags.flat())
    const [greeting] = await once(child.stdout ?? child, 'data')
    const address = /SSO service\s+(\S+)/u.exec(String(greeting))?.[1] ?? ''
    expect(await (await fetch(`${address}/_emulator/state`)).json()).toMatchObject({
      options: {
        rotation: 'single-use',
        accessTokenFormat: 'opaque',
        hiddenInputs: { rename: { _csrf: 'check' } },
        latency: 5,
        expiresIn: null,
        firewall: false,
        mfaAt: 'form-submission',
      },
      faults: { refresh: { once: [{ drop: 'after-commit' }] } },
      firewall: { blockedUntil: expect.closeTo(Date.now() / 1000 + 900, -1) },
    })
  })

  it.each([
    ['--tls --ca-file /nowhere/ca.pem', "/nowhere/ca.pem can't be written (ENOENT)"],
    ['--ca-file ca.pem', 'Option --ca-file needs --tls'],
    ['--mfa-at nowhere', '--mfa-at must be'],
    ['--colour', "Unknown option '--colour'\nnpx @owner-sso/emulator --help says what it takes.\n"],
    ['--scenario doomsday', 'Unknown scenario doomsday'],
  ])('%s is explained, and nothing is started', async (flags, message) => {
    const { code, stdout, stderr } = await outcome(...flags.split(' '))
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(message)])
  })
})
