/** The key of the default folder, in a real Secret Service. */
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createTokenManager, type TokenSet } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type DesktopSession, describeWithKeyring, startDesktopSession } from './desktop-session.ts'
import { type CallOptions, credential, type Ended, ended, useMachine, until } from './machine.ts'
import { capture, enter, inTerminal } from './terminal.ts'

const account = 'plain@example.com'
const other = 'other@example.com'
const third = 'third@example.com'

describeWithKeyring('the keyring', () => {
  const emulator = useEmulator({ accounts: [account, other, third].map((identity) => ({ identity, credential })) })
  let desktop: DesktopSession
  const machine = useMachine(emulator)

  beforeAll(async () => {
    desktop = await startDesktopSession()
  })
  afterAll(async () => desktop[Symbol.asyncDispose]())

  const run = (args: readonly string[], { env, ...options }: CallOptions = {}): Promise<Ended> =>
    machine.run(args, { ...options, env: { ...keyringOf(desktop), ...env } })
  const signIn = (name: string, env: NodeJS.ProcessEnv = {}): Promise<Ended> =>
    machine.signIn(name, { env: { ...keyringOf(desktop), ...env } })
  const note = (): string => join(machine.tokensFolder, 'keyring.json')
  /** The records of the folder, newest and older, as they lie there; one may go while they are looked at. */
  const records = (): string[] =>
    filesBelow(machine.tokensFolder)
      .filter((path) => /[\\/]t\.\d+$/u.test(path))
      .flatMap((path) => readIfThere(path) ?? [])
  /** But for the roll call: a manager of this very process, which knows no key, makes one when the test takes long. */
  const plain = (): string[] => records().filter((record) => !/"state":"(?:sealed|roll-call)"/u.test(record))
  const states = async (options?: CallOptions): Promise<string[]> => {
    const { stdout } = await run(['status', '--json'], options)
    return JSON.parse(stdout).accounts.map(({ state }: { state: string }) => state)
  }

  it('holds the key from the first login on: no record is plain, and every command works', async () => {
    const first = await signIn(account)
    expect(first).toMatchObject({ code: 0 })
    expect(first.stderr).toContain(`The tokens in ${machine.tokensFolder} are encrypted from now on`)
    // There was nothing to encrypt.
    expect(first.stderr).not.toMatch(/in place|at the end of a refresh/u)
    expect((await signIn(other)).stderr).not.toContain('encrypted')
    expect(records().length).toBeGreaterThan(0)
    expect(plain()).toEqual([])
    expect(Object.keys(JSON.parse(read(note())))).toEqual(['schema', 'about', 'entry'])
    expect(await states()).toEqual(['valid', 'valid'])
    const token = (await run(['token', '--account', account])).stdout.trim()
    expect(token).not.toBe('')
    // After eight hours: a refresh, and what it brought is sealed as well.
    const fresh = (await run(['token', '--account', account], { ahead: 9 * 3600 })).stdout.trim()
    expect(fresh).not.toBe(token)
    expect(plain()).toEqual([])
    expect((await run(['doctor', '--account', account])).stdout).toContain('sealed (AES-256-GCM); the key is in')
    expect((await run(['logout', '--account', account])).code).toBe(0)
  })

  it('is mentioned in one sentence at the first login, at a terminal', async () => {
    const terminal = inTerminal(machine, ['login'], keyringOf(desktop))
    await terminal.shows('are encrypted from now on')
    await terminal.shows('E-mail')
    terminal.type(`${account}${enter}`)
    await terminal.shows('Password')
    terminal.type(`${credential}${enter}`)
    await terminal.shows('Signed in as')
    expect(await terminal.end()).toEqual({ code: 0, restored: true })
    capture('first-login', terminal)
    expect(terminal.screen().match(/encrypted/gu)).toHaveLength(1)
  })

  it('is left alone with --no-keyring, OWNER_SSO_KEYRING=off, a key of one’s own, and for other folders', async () => {
    const key = Buffer.alloc(32, 7).toString('base64')
    const elsewhere = { OWNER_SSO_STORE: `file:${join(machine.home, 'elsewhere')}` }
    for (const env of [{ OWNER_SSO_KEYRING: 'off' }, { OWNER_SSO_ENCRYPTION_KEY: key }, elsewhere]) {
      const { code, stderr } = await signIn(account, env)
      expect({ code, note: existsSync(note()), warned: stderr.includes('encrypted') }).toEqual({
        code: 0,
        note: false,
        warned: false,
      })
      rmSync(machine.tokensFolder, { recursive: true, force: true })
    }
    // Turned on, it is for all folders.
    await signIn(account, { ...elsewhere, OWNER_SSO_KEYRING: 'on' })
    expect(existsSync(join(machine.home, 'elsewhere', 'keyring.json'))).toBe(true)
    expect((await signIn(account, { OWNER_SSO_KEYRING: 'perhaps' })).code).toBe(2)
  })

  it('causes one warning where there is none: the tokens are stored in plain', async () => {
    const { code, stderr } = await machine.signIn(account, { env: { OWNER_SSO_KEYRING: '' } })
    expect(code).toBe(0)
    expect(stderr).toContain(`The tokens in ${machine.tokensFolder} are not encrypted, since there is no keyring here`)
    // Once, and after the sign-in: it is advice, and comes before no error.
    expect(stderr.indexOf('Signed in as')).toBeLessThan(stderr.indexOf('not encrypted'))
    const wrong = { OWNER_SSO_KEYRING: '', OWNER_SSO_CREDENTIAL: 'wrong' }
    const failed = await machine.signIn(account, { env: wrong })
    expect([failed.code, failed.stderr]).toEqual([4, expect.not.stringContaining('encrypted')])
    expect((await machine.run(['doctor'])).stdout).toContain('• encryption      none')
    expect(plain().length).toBeGreaterThan(0)
    expect((await machine.run(['token'])).stderr).toBe('')
    expect((await machine.run(['login', '--no-keyring', '--account', account], password)).stderr).not.toContain(
      'encrypted',
    )
  })

  it('seals a plain folder in place, once, while a proxy uses it and another program refreshes', async () => {
    await machine.signIn(account)
    // A program of somebody else's that knows no keyring, with a refresh under way.
    const store = fileTokenStore({ path: machine.tokensFolder })
    let answer: ((tokens: TokenSet) => void) | undefined
    const sso = { refresh: () => new Promise<TokenSet>((resolve) => (answer = resolve)) }
    const program = createTokenManager({ issuer: sso, store })
    await program.save(other, tokenSet('old', 0))
    const refreshing = program.getAccessToken(other)
    await until(() => answer !== undefined)
    // A proxy that was started when all was plain.
    const proxy = machine.start(['proxy', '--account', account], { env: keyringOf(desktop) })
    const [line] = await once(proxy.stdout!, 'data')
    const call = async (): Promise<number> => (await fetch(`${String(line).trim()}/api/1/vehicles`)).status

    const { code, stderr } = await signIn(third)
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(stderr).toMatch(/\d+ records? in .* (?:was|were) encrypted in place\./u)
    expect(stderr).toContain('1 record will be encrypted at the end of a refresh that is under way.')
    answer?.(tokenSet('new', 3600))
    expect(await refreshing).toBe('access-new')
    expect(await call()).toBe(200)
    expect(await states()).toEqual(['valid', 'valid', 'valid'])
    // The proxy stores what it refreshes, sealed.
    emulator.revokeAccessTokens(account)
    expect([await call(), await call()]).toContain(200)
    await signIn(third)
    expect(plain()).toEqual([])
    const stopped = ended(proxy)
    proxy.kill('SIGTERM')
    expect((await stopped).code).toBe(0)
    expect(emulator.counters.replays).toBe(0)
  }, 120_000)

  it('loses nothing when the command is killed while it seals', async () => {
    const names = Array.from({ length: 12 }, (_, index) => `owner-${index}@example.com`)
    const tokens = createTokenManager({
      issuer: { refresh: () => Promise.reject(new Error()) },
      store: fileTokenStore({ path: machine.tokensFolder }),
    })
    for (const name of names) await tokens.save(name, tokenSet(name, 3600))
    const all = records().length
    for (const sealed of [0, 1, 6]) {
      const child = machine.start(['login', '--account', account], { env: keyringOf(desktop, password.env) })
      const end = ended(child)
      await until(() => (existsSync(note()) && all - plain().length >= sealed) || child.exitCode !== null)
      child.kill('SIGKILL')
      await end
      expect((await states()).filter((state) => state === 'valid').length).toBeGreaterThanOrEqual(names.length)
      for (const name of [names[0], names[11]]) {
        expect((await run(['token', '--account', name!])).stdout.trim()).toBe(`access-${name}`)
      }
    }
    expect((await signIn(account)).code).toBe(0)
    expect(plain()).toEqual([])
    expect(await states()).toEqual(Array.from({ length: names.length + 1 }, () => 'valid'))
  }, 120_000)

  it('gets one key, however many sign in first at the same time', async () => {
    const ends = await Promise.all([signIn(account), signIn(other), signIn(third)])
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0])
    expect(await states()).toEqual(['valid', 'valid', 'valid'])
    expect(plain()).toEqual([])
  })

  it('has an error of its own where it is locked, has lost the key, does not answer or is not there; nothing is changed', async () => {
    await signIn(account)
    const before = records()
    const silent = createServer((socket: Socket) => socket.on('error', () => undefined)).listen(
      join(machine.home, 'silent'),
    )
    await once(silent, 'listening')
    const failures = async (env: NodeJS.ProcessEnv): Promise<string> => {
      const commands = [['token'], ['login', '--account', account]]
      const [token, login] = await Promise.all(commands.map((args) => run(args, { env: { ...env, ...password.env } })))
      expect([token?.code, login?.code]).toEqual([6, 6])
      expect(records()).toEqual(before)
      return token?.stderr ?? ''
    }
    const logins = emulator.counters.formPosts
    // At the same time, since one of them waits for ten seconds.
    const [none, late, off] = await Promise.all([
      failures({ DBUS_SESSION_BUS_ADDRESS: '', XDG_RUNTIME_DIR: '' }),
      failures({ DBUS_SESSION_BUS_ADDRESS: `unix:path=${join(machine.home, 'silent')}` }),
      failures({ OWNER_SSO_KEYRING: 'off' }),
    ])
    expect(none).toContain('no keyring here')
    expect(late).toContain('did not answer within ten seconds')
    expect(off).toContain('Omit --no-keyring')
    silent.close()
    await desktop.lock()
    expect(await failures({})).toContain('Unlock it')
    expect((await run(['doctor'])).stdout).toContain('the keyring is locked')
    await desktop.unlock()
    expect(await states()).toEqual(['valid'])
    await desktop.lose()
    expect(await failures({})).toContain('the keyring no longer has it')
    expect(emulator.counters.formPosts).toBe(logins)
    // As the sentence says: the folder moved away, a new one with a new key.
    rmSync(machine.tokensFolder, { recursive: true })
    expect((await signIn(account)).code).toBe(0)
  }, 120_000)

  it('can be left: by a copy into another store, which is plain without a key of its own, and says so', async () => {
    await signIn(account)
    const from = `file:${machine.tokensFolder}`
    expect((await run(['copy', from, 'file:unsealed'])).stderr).toContain('The copies are not encrypted')
    expect((await machine.run(['token', '--store', 'file:unsealed'])).code).toBe(0)
    const key = { OWNER_SSO_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') }
    expect(await run(['token'], { env: key })).toMatchObject({ code: 6 })
  })

  const password: CallOptions & { env: NodeJS.ProcessEnv } = { env: { OWNER_SSO_CREDENTIAL: credential } }
})

const keyringOf = (
  { env: { DBUS_SESSION_BUS_ADDRESS, XDG_RUNTIME_DIR } }: DesktopSession,
  others: NodeJS.ProcessEnv = {},
): NodeJS.ProcessEnv => ({
  DBUS_SESSION_BUS_ADDRESS,
  XDG_RUNTIME_DIR,
  OWNER_SSO_KEYRING: '',
  ...others,
})

const read = (path: string): string => readFileSync(path, 'utf8')

function readIfThere(path: string): string | undefined {
  try {
    return read(path)
  } catch (error) {
    if (existsSync(path)) throw error
    return undefined
  }
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
}

const tokenSet = (name: string, life: number): TokenSet => ({
  access_token: `access-${name}`,
  refresh_token: `refresh-${name}`,
  token_type: 'Bearer',
  expires_at: Math.floor(Date.now() / 1000) + life,
  auth_url: 'https://auth.example.com',
})
