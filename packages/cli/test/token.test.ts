import { openSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { useEmulator } from '@owner-sso/emulator/jest'
import { describe, expect, it } from '@jest/globals'
import { command, credential, ended, useMachine, until } from './machine.ts'
import { storeLogin } from './signed-in.ts'

const nineHours = 9 * 3600
const emulator = useEmulator()
const machine = useMachine(emulator)

describe('owner-sso token', () => {
  it('prints the stored token and nothing else, without a request', async () => {
    await machine.signIn('plain@example.com')
    const requests = emulator.requests.length
    const { code, stdout, stderr } = await machine.run(['token'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/u)
    expect(emulator.requests).toHaveLength(requests)
    expect(await vehiclesWith(stdout.trim())).toBe(200)
  })

  it('prints a token that lives as long as --min-validity says, refreshed if necessary', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    const [first, same, other] = [
      await machine.run(['token']),
      await machine.run(['token', '--min-validity', '30m'], { ahead: 3600 }),
      await machine.run(['token', '--min-validity', '27000'], { ahead: 3600 }),
    ]
    expect(same.stdout).toBe(first.stdout)
    expect(other).toMatchObject({ code: 0, stderr: '' })
    expect(other.stdout).not.toBe(first.stdout)
    expect(emulator.counters.refreshRequests).toBe(1)
    const tooLong = await machine.run(['token', '--min-validity', '30d'])
    expect(tooLong).toMatchObject({ code: 7, stdout: '' })
    expect(tooLong.stderr.split('Ask for less')).toHaveLength(2)
    const { code, stderr } = await machine.run(['token', '--min-validity', 'soon'])
    expect(code).toBe(2)
    expect(stderr).toContain('Give --min-validity a number and its unit')
  })

  it('refreshes an expired one, once for all who ask at the same time', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    emulator.clock.advance(nineHours)
    const calls = Array.from({ length: 4 }, () => machine.run(['token'], { ahead: nineHours }))
    const tokens = (await Promise.all(calls)).map(({ stdout }) => stdout)
    expect(new Set(tokens).size).toBe(1)
    expect(await vehiclesWith(tokens[0]?.trim() ?? '')).toBe(200)
    expect(emulator.counters.refreshRequests).toBe(1)
  })

  it('asks which account where there are several, and takes the one that is named', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    await storeLogin(machine, emulator, 'regional@example.com')
    const several = await machine.run(['token'])
    expect(several).toMatchObject({ code: 2, stdout: '' })
    expect(several.stderr).toContain('plain@example.com, regional@example.com')
    const named = await machine.run(['token', '--account', 'REGIONAL@example.com', '--json'])
    expect(JSON.parse(named.stdout).account).toBe('regional@example.com')
  })

  it('says who is signed in where the account is not', async () => {
    expect(await machine.run(['token'])).toMatchObject({ code: 3, stdout: '' })
    await storeLogin(machine, emulator, 'plain@example.com')
    const { code, stderr } = await machine.run(['token', '--account', 'nobody@example.com'])
    expect(code).toBe(3)
    expect(stderr).toContain('nobody@example.com is not signed in here.')
    expect(stderr).toContain('Signed in: plain@example.com.')
  })

  it('says to sign in again once the refresh token is dead', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    emulator.expireRefreshTokens('plain@example.com')
    const { code, stdout, stderr } = await machine.run(['token'], { ahead: nineHours })
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toContain('owner-sso login')
  })

  it('tells a refresh whose answer was lost from a network that is down', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    emulator.once('refresh', { drop: 'after-commit' })
    const { code, stderr } = await machine.run(['token'], { ahead: nineHours })
    expect(code).toBe(7)
    expect(stderr).toMatch(/Try again/u)
    expect(emulator.counters.refreshRequests).toBe(1)
  })

  it('needs no service for a token that is valid, and asks for OWNER_SSO_AUTH_URL where it has to refresh', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    expect((await machine.run(['token'], { env: { OWNER_SSO_AUTH_URL: 'http://127.0.0.1:1' } })).code).toBe(0)
    const { code, stderr } = await machine.run(['token'], { env: { OWNER_SSO_AUTH_URL: '' } })
    expect(code).toBe(2)
    expect(stderr).toContain('OWNER_SSO_AUTH_URL')
  })

  it.each([
    ['refresh', { OWNER_SSO_AUTH_URL: 'ftp://auth.example.com' }, /https/u],
    ['refresh', { OWNER_SSO_CA: '/none.pem' }, /none\.pem is not a readable PEM file/u],
    ['token', { OWNER_SSO_CA: '/none.pem' }, /none\.pem is not a readable PEM file/u],
    ['keep --once', { OWNER_SSO_TRANSPORT: 'none' }, /transport/iu],
  ])(
    '%s with %j fails because of the setting, before a refresh is announced in the store',
    async (args, env, message) => {
      await storeLogin(machine, emulator, 'plain@example.com')
      const { code, stderr } = await machine.run(args.split(' '), { ahead: nineHours, env })
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) })
      expect((await machine.run(['status', '--json'])).stdout).toContain('"state": "valid"')
      expect(emulator.counters.refreshRequests).toBe(0)
    },
  )

  it('ends quietly where nobody reads its output', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    for (const args of ['token', 'status', 'accounts', '--help', 'doctor']) {
      const child = machine.start(args.split(' '))
      child.stdout?.destroy()
      const { code, stderr } = await ended(child)
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' })
    }
  })

  it('says so where its output can’t be written', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    const full = openSync('/dev/full', 'w')
    const child = spawn(process.execPath, [command, 'token'], { env: machine.env, stdio: ['ignore', full, 'pipe'] })
    const { code, stderr } = await ended(child)
    expect(code).toBe(1)
    expect(stderr).toContain('could not be written')
  })

  it.each(['status', 'status --json', 'refresh --json', 'copy file:TOKENS file:SECOND --json'])(
    'says that its output can’t be written, and nothing more: %s',
    async (args) => {
      await storeLogin(machine, emulator, 'plain@example.com')
      const full = openSync('/dev/full', 'w')
      const folders = { TOKENS: machine.tokensFolder, SECOND: join(machine.home, 'second') }
      const words = args.replaceAll(/TOKENS|SECOND/gu, (name) => Reflect.get(folders, name)).split(' ')
      const child = spawn(process.execPath, [command, ...words], { env: machine.env, stdio: ['ignore', full, 'pipe'] })
      const { code, stderr } = await ended(child)
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('could not be written') })
      expect(stderr).not.toMatch(/copied|Use the new one|UnhandledPromise|^\s+at /mu)
    },
  )

  it('does not run where NODE_DEBUG or DEBUG would print what it sends', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    for (const env of [{ NODE_DEBUG: 'net,HTTP' }, { DEBUG: '*' }]) {
      const { code, stdout, stderr } = await machine.run(['token'], { env })
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain('--force')
    }
    expect((await machine.run(['token', '--force'], { env: { DEBUG: '*' } })).code).toBe(0)
  })
})

describe('a refresh during which the command is told to stop', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('%s: is finished and saved before the command ends', async (signal) => {
    await storeLogin(machine, emulator, 'plain@example.com')
    let release = (): void => undefined
    emulator.once('refresh', { hold: new Promise<void>((resolve) => (release = resolve)), commit: 'after' })
    const child = machine.start(['token'], { ahead: nineHours })
    const end = ended(child)
    await until(() => emulator.counters.tokenRefreshes === 1)
    child.kill(signal)
    child.kill(signal)
    await new Promise<void>((resolve) =>
      child.stderr?.on('data', (chunk) => String(chunk).includes('Finishing the refresh') && resolve()),
    )
    release()
    expect(await end).toMatchObject({ code: signal === 'SIGINT' ? 130 : 143, stdout: '' })

    const { code } = await machine.run(['token'], { ahead: nineHours })
    expect(code).toBe(0)
    expect(emulator.counters).toMatchObject({ refreshRequests: 1, replays: 0 })
  })
})

describe('a store that is encrypted', () => {
  const key = Buffer.alloc(32, 7).toString('base64')

  it('has no token in plain on disk, and gives it back with the key', async () => {
    const env = { OWNER_SSO_ENCRYPTION_KEY: key }
    await machine.signIn('plain@example.com', { env })
    expect((await machine.run(['token'], { env })).code).toBe(0)
    const other = await machine.run(['token'], {
      env: { OWNER_SSO_ENCRYPTION_KEY: Buffer.alloc(32, 8).toString('base64') },
    })
    expect(other).toMatchObject({ code: 6, stdout: '' })
    for (const args of [['token'], ['status'], ['accounts'], ['logout']]) {
      const without = await machine.run(args)
      expect(without).toMatchObject({ code: 6, stdout: '' })
      expect(without.stderr).toContain('OWNER_SSO_ENCRYPTION_KEY')
    }
  })

  it('rejects a key that is none, without quoting it', async () => {
    const { code, stderr } = await machine.run(['token'], { env: { OWNER_SSO_ENCRYPTION_KEY: 'too-short' } })
    expect(code).toBe(2)
    expect(stderr).toContain('openssl rand -base64 32')
    expect(stderr).not.toContain('too-short')
  })
})

async function vehiclesWith(token: string): Promise<number> {
  const answer = await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, {
    headers: { authorization: `Bearer ${token}` },
  })
  return answer.status
}

it('a password is in no file, output or error', async () => {
  const { stdout, stderr } = await machine.signIn('plain@example.com')
  expect(stdout + stderr).not.toContain(credential)
})
