/** `owner-sso import` and `owner-sso export`: moving in with what somebody has, and out again. */
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSso, createTokenManager, type TokenSet } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { describe, expect, it } from '@jest/globals'
import { UnsecuredJWT } from 'jose'
import { credential, type Ended, newMachine, useMachine } from './machine.ts'
import { accountsAt, storeLogin } from './signed-in.ts'
import { capture, describeInTerminal, enter, inTerminal } from './terminal.ts'

const emulator = useEmulator()
const machine = useMachine(emulator)
const [plain, regional] = ['plain@example.com', 'regional@example.com']

/** Signs in as another client did, elsewhere. */
async function elsewhere(identity: string): Promise<TokenSet> {
  const sso = createSso({ authUrl: emulator.authUrl, regionalAuthUrls: [emulator.regionalAuthUrl] })
  const { access_token, refresh_token, token_type, expires_in, expires_at, auth_url } = await sso.login({
    identity,
    credential,
  })
  return { access_token, refresh_token, token_type, expires_at, auth_url, ...(expires_in && { expires_in }) }
}

/** Imports what is written into a file. */
async function imported(content: unknown, ...more: string[]): Promise<Ended> {
  const text = typeof content === 'string' ? content : JSON.stringify(content)
  return machine.run(['import', machine.file('cache', text), ...more])
}

const accountsNow = async (): Promise<string> => (await accountsAt(machine)).map((name) => `${name}\n`).join('')
const tokenOf = (account: string): Promise<Ended> => machine.run(['token', '--account', account])

/**
 * What each client style of docs/reference/compatibility.md keeps after a sign-in. `traded`: what it refreshes with is the owner API’s,
 * which the service refuses, so it is imported by the set that it had before.
 */
const styles: Readonly<
  Record<string, (tokens: TokenSet, account: string) => readonly [cache: unknown, ...args: string[]]>
> = {
  '`@owner-sso/core`': (tokens, account) => [tokens, '--account', account],
  curl: ({ access_token, refresh_token, token_type, expires_in }, account) => [
    { access_token, refresh_token, expires_in, token_type },
    '--account',
    account,
  ],
  'a legacy client from npm': ({ access_token, refresh_token, token_type }, account) => [
    {
      error: null,
      body: JSON.stringify({ access_token, token_type }),
      authToken: access_token,
      refreshToken: refresh_token,
    },
    '--account',
    account,
  ],
  'openid-client': ({ auth_url: _region, ...response }, account) => [
    { ...response, scope: 'openid' },
    '--account',
    account,
  ],
  'first matches': ({ access_token, refresh_token, expires_in = 300, expires_at, auth_url }, account) => [
    {
      [account]: {
        url: `${auth_url}/`,
        sso: { access_token, refresh_token, expires_in, expires_at: expires_at + 0.25 },
      },
    },
  ],
  'templates and trade': ({ refresh_token, auth_url }, account) => [
    {
      [account]: {
        url: auth_url,
        trade: { access_token: 'x', refresh_token: 'of the owner API', created_at: 1_700_000_000 },
        sso: { refresh_token },
      },
    },
  ],
  'region first': ({ access_token, refresh_token, auth_url }, account) => [
    { [account]: { url: auth_url, sso: { access_token, refresh_token, token_type: 'Bearer' } } },
  ],
  'no hint': ({ access_token, refresh_token, auth_url }, account) => [
    { access_token, refresh_token, auth_url },
    '--account',
    account,
  ],
}

describe('the cache of each client style', () => {
  const document = readFileSync(new URL('../../../docs/reference/compatibility.md', import.meta.url), 'utf8')
  const [, table = ''] = /^\| client +\| plain .*\n\|[- |]+\n((?:\|.*\n)+)/mu.exec(document) ?? []
  const clients = Array.from(table.matchAll(/^\| (.*?) +\|/gmu), ([, name = '']) => name)

  it('has a shape here for each client of docs/reference/compatibility.md', () =>
    expect(clients).toEqual(Object.keys(styles)))

  it.each(Object.entries(styles))('of %s is imported, and its owner signed in', async (_style, cacheOf) => {
    const tokens = await elsewhere(plain)
    const [cache, ...args] = cacheOf(tokens, plain)
    const before = emulator.counters.refreshRequests
    const { code, stderr } = await imported(cache, '--yes', ...args)
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining(`  ${plain}  127.0.0.1:`) })
    expect(emulator.counters.refreshRequests).toBe(before)
    // An access token that lives is kept: a refresh may bring one that the owner API refuses.
    const isKept = JSON.stringify(cache).includes(tokens.access_token)
    const { code: given, stdout } = await tokenOf(plain)
    expect([given, stdout.trim() === tokens.access_token]).toEqual([0, isKept])
    expect(emulator.counters.refreshRequests).toBe(isKept ? before : before + 1)
  })
})

describe('owner-sso import', () => {
  it('takes a whole cache, of several regions, and shows no secret of it', async () => {
    const [one, other] = [await elsewhere(plain), await elsewhere(regional)]
    const cache = { [plain]: { sso: one }, [regional]: { url: other.auth_url, sso: other }, version: 1 }
    const dry = await imported(cache, '--dry-run')
    expect(dry).toMatchObject({ code: 0, stdout: '' })
    expect(dry.stderr).toContain('Found (cache): 2 accounts to import into file:')
    expect(dry.stderr).toMatch(
      /^ {2}regional@example\.com {2}localhost:\d+ {2}\d s old {2}works until [-\d ]*\d\d:\d\d/mu,
    )
    expect(dry.stderr).toContain('1 other entry has no refresh token.')
    expect(await accountsNow()).toBe('')
    const done = await imported(cache, '--yes', '--json')
    expect(JSON.parse(done.stdout)).toMatchObject({
      shape: 'cache',
      found: [plain, regional],
      imported: [plain, regional],
      problems: [],
    })
    expect(await accountsNow()).toBe(`${plain}\n${regional}\n`)
    expect((await machine.run(['status'])).stdout).toMatch(/valid .* left/u)
    for (const { stdout, stderr } of [dry, done]) {
      for (const { refresh_token, access_token } of [one, other]) {
        expect(stdout + stderr).not.toContain(refresh_token)
        expect(stdout + stderr).not.toContain(access_token)
      }
    }
    expect((await tokenOf(regional)).code).toBe(0)
  })

  it('of one account alone leaves the others of a cache where they are', async () => {
    const ended = { refresh_token: past(2) }
    const cache = { [plain]: await elsewhere(plain), [regional]: await elsewhere(regional), 'ann@example.com': ended }
    const one = await imported(cache, '--yes', '--account', ' Regional@Example.com')
    expect(one).toMatchObject({ code: 0, stderr: expect.not.stringContaining('ann@example.com') })
    expect(await accountsNow()).toBe(`${regional}\n`)
    const other = await imported(cache, '--yes', '--account', 'bob@example.com')
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining('no tokens of bob@example.com') })
  })

  it('reads standard input, and checks with one refresh where that is wished', async () => {
    const { refresh_token } = await elsewhere(plain)
    const args = ['import', '-', '--account', plain, '--yes', '--check']
    const before = emulator.counters.refreshRequests
    const { code, stderr } = await machine.run(args, { input: `${refresh_token}\n` })
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('imported, and refreshed once') })
    expect((await tokenOf(plain)).code).toBe(0)
    expect(emulator.counters.refreshRequests).toBe(before + 1)
  })

  it('stores nothing where nobody agrees', async () => {
    const { code, stderr } = await imported({ [plain]: await elsewhere(plain) })
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
    expect(await accountsNow()).toBe('')
  })

  it('ends no sign-in, unless it is told to', async () => {
    await storeLogin(machine, emulator, plain)
    const token = (await tokenOf(plain)).stdout
    const cache = { [plain]: await elsewhere(plain) }
    const kept = await imported(cache, '--yes')
    expect({ code: kept.code, stderr: kept.stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/already.*--replace/su),
    })
    expect((await tokenOf(plain)).stdout).toBe(token)
    // There is nothing to agree to.
    expect((await imported(cache)).stderr).toBe(kept.stderr)
    expect((await imported(cache, '--yes', '--replace')).code).toBe(0)
    expect((await tokenOf(plain)).stdout).not.toBe(token)
  })

  const past = (days: number): string =>
    new UnsecuredJWT({ exp: Math.floor(Date.now() / 1000) - days * 86_400 }).encode()
  const refresh_token = 'a-refresh-token-of-somebody'
  const ofJo = new UnsecuredJWT({ email: 'jo@example.com' }).encode()

  it.each<[string, unknown, string[], number, RegExp]>([
    [
      'of no known shape',
      '<html>',
      [],
      2,
      /No refresh token was found.*a refresh token alone; a token response.*a cache.*owner-sso export/su,
    ],
    ['that names nobody', { refresh_token }, [], 2, /whose tokens these are.*--account/su],
    [
      'of another owner by its key',
      { [plain]: { refresh_token, id_token: ofJo } },
      [],
      2,
      /belong to jo@example\.com/u,
    ],
    [
      'of another owner by --account',
      { [plain]: { refresh_token } },
      ['--account', regional],
      2,
      /belong to plain@example\.com/u,
    ],
    [
      'that has ended',
      { [plain]: { refresh_token: past(2) } },
      [],
      3,
      /ended at (?:\d{4}-\d\d-\d\d )?\d\d:\d\d \S+\.\s.*owner-sso login --account/su,
    ],
    [
      'of a region that is not allowed',
      { [plain]: { refresh_token, url: 'https://auth.example.org' } },
      [],
      2,
      /https:\/\/auth\.example\.org is not an allowed instance.*--regional-auth-url https:\/\/auth\.example\.org/su,
    ],
    [
      'of an address that is none',
      { [plain]: { refresh_token, url: 'javascript:alert(1)' } },
      [],
      2,
      /address that can’t be read/u,
    ],
    ['of a name of our own records', { refresh_token }, ['--account', 'owner-sso:firewall'], 2, /can’t be imported/u],
  ])('rejects tokens %s with the reason, and stores nothing', async (_what, content, args, code, words) => {
    const ending = await imported(content, '--yes', ...args)
    expect(ending.code).toBe(code)
    expect(ending.stderr).toMatch(words)
    expect(ending.stderr).not.toContain(refresh_token)
    expect(await accountsNow()).toBe('')
  })

  it('imports the good of a cache, and names the others', async () => {
    const good = await elsewhere(plain)
    const cache = {
      [plain]: good,
      [regional]: { refresh_token: past(2) },
      'ann@example.com': { refresh_token: good.refresh_token, auth_url: good.auth_url },
    }
    const { code, stderr } = await imported(cache, '--yes')
    expect(code).toBe(3)
    expect(stderr).toContain(`not imported: The refresh token of ${regional} ended at`)
    expect(stderr).toContain('2 accounts could not be imported.')
    expect(await accountsNow()).toBe(`${plain}\n`)
  })

  it('finds out at the first use that a refresh token is another’s, and uses it no more', async () => {
    const stolen = await elsewhere(regional)
    const input = { refresh_token: stolen.refresh_token, auth_url: stolen.auth_url }
    expect((await imported(input, '--account', plain, '--yes')).code).toBe(0)
    for (const { code, stdout, stderr } of [await tokenOf(plain), await tokenOf(plain)]) {
      expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
      expect(stderr).toContain('belongs to another owner')
    }
    expect((await machine.run(['status', '--account', plain])).stdout).toContain('other owner')
  })

  it('stores under the subject where no e-mail is named, and says by which name they are used', async () => {
    const { id_token: _, ...input } = JSON.parse(JSON.stringify(await elsewhere(plain)))
    expect((await imported(input, '--yes')).code).toBe(0)
    const subject = (await accountsNow()).trim()
    expect(subject).toMatch(/^sub:/u)
    const second = await imported(input, '--yes', '--account', plain)
    expect(second.code).toBe(6)
    expect(second.stderr).toContain(`("${subject}")`)
    expect(await accountsNow()).toBe(`${subject}\n`)
    expect((await tokenOf(subject)).code).toBe(0)
  })

  it('says what is wrong with a folder, somebody else’s file, and broken JSON, with its line', async () => {
    const folder = await machine.run(['import', machine.home, '--yes'])
    expect(folder).toMatchObject({ code: 2, stderr: expect.stringContaining(`${machine.home} is a folder.`) })
    expect(folder.stderr).not.toContain('chmod')
    const texts: [string, number][] = [
      [`{\n "${plain}": {"refresh_token": "${refresh_token}"},\n}`, 3],
      [`{\n "${plain}": {\n "refresh_token": ${refresh_token} }\n}`, 3],
      [`[\n"${refresh_token}",\n]`, 3],
      [`{\n "${plain}": {"refresh_token": "${refresh_token}"}`, 2],
    ]
    for (const [text, line] of texts) {
      const { code, stderr } = await imported(text, '--yes')
      expect([code, stderr]).toEqual([2, expect.stringContaining(`broken JSON, from line ${line} on`)])
      expect(stderr).not.toContain(refresh_token)
    }
  })

  it('says so where nothing of a cache can be imported, and what would help', async () => {
    const cache = { [plain]: { refresh_token: past(2) }, [regional]: { refresh_token: past(3) } }
    const { stderr } = await imported(cache, '--yes')
    expect(stderr).toContain('Found (cache): 2 accounts, none of which can be imported into file:')
    expect(stderr).not.toMatch(/0 accounts|for the rest/u)
  })

  it('shows hostile names as they are, on one line', async () => {
    const name = 'a@b.example\u001B[2J\n\u202Eowner-sso: all is well'
    const { stderr } = await imported(
      { [plain]: { refresh_token, id_token: new UnsecuredJWT({ email: name }).encode() } },
      '--yes',
    )
    // eslint-disable-next-line no-control-regex
    expect(stderr).not.toMatch(/\u001B\[2J|\u202E|^owner-sso: all is well/mu)
    const proto = await imported(
      `{"__proto__":{"refresh_token":"another-${refresh_token}"}}`,
      '--yes',
      '--account',
      regional,
    )
    expect(proto.code).toBe(0)
  })
})

describe('owner-sso export', () => {
  const key = { OWNER_SSO_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }

  it('writes a sealed file that import takes on another machine, with the key', async () => {
    await machine.signIn(plain, { env: key })
    const path = join(machine.home, 'moved.json')
    const { code, stdout } = await machine.run(['export', '--file', path], { env: key })
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const text = readFileSync(path, 'utf8')
    expect(text).not.toContain(plain)
    const again = await machine.run(['export', '--file', path], { env: key })
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('EEXIST') })
    expect(readFileSync(path, 'utf8')).toBe(text)

    const next = newMachine(emulator)
    try {
      const locked = await next.run(['import', path, '--yes'])
      expect(locked).toMatchObject({ code: 2, stderr: expect.stringContaining('Set OWNER_SSO_ENCRYPTION_KEY') })
      const wrong = { OWNER_SSO_ENCRYPTION_KEY: Buffer.alloc(32, 8).toString('base64') }
      expect((await next.run(['import', path, '--yes'], { env: wrong })).stderr).toContain('does not open')
      // While a key is being changed there are two: either opens it.
      const both = { OWNER_SSO_ENCRYPTION_KEY: [key, wrong].map((each) => each.OWNER_SSO_ENCRYPTION_KEY).join() }
      expect((await next.run(['import', path, '--yes'], { env: both })).code).toBe(0)
      expect((await next.run(['token'], { env: key })).code).toBe(0)
    } finally {
      next.remove()
    }
  })

  it('writes readable tokens only where the option says so, and any name comes back', async () => {
    const { refresh_token, auth_url } = await elsewhere(plain)
    const tokens = createTokenManager({
      issuer: { refresh: fails },
      store: fileTokenStore({ path: machine.tokensFolder }),
    })
    for (const name of [plain, '__proto__', 'the “car”\u0000']) {
      await tokens.save(name, { refresh_token: name === plain ? refresh_token : `of ${name}`, auth_url })
    }
    const refused = await machine.run(['export', '--all'])
    expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('OWNER_SSO_ENCRYPTION_KEY') })
    const { stdout, stderr } = await machine.run(['export', '--all', '--plain-text-tokens'])
    expect(stderr).toContain('not sealed: whoever reads it is signed in')
    writeFileSync(join(machine.home, 'plain.json'), stdout, { mode: 0o600 })
    const moved = await machine.run(['import', 'plain.json', '--yes', '--store', 'file:second', '--json'])
    expect(JSON.parse(moved.stdout).imported.toSorted()).toEqual(['__proto__', plain, 'the “car”\u0000'].toSorted())
    expect((await machine.run(['token', '--account', plain, '--store', 'file:second'])).code).toBe(0)
  })

  it('of all accounts leaves out the one that has to sign in again: names it, and ends with its exit code', async () => {
    for (const account of [plain, regional]) await storeLogin(machine, emulator, account)
    emulator.expireRefreshTokens(regional)
    await machine.run(['refresh', '--account', regional], { ahead: 120 })
    const { code, stdout, stderr } = await machine.run(['export', '--all', '--plain-text-tokens'])
    expect(code).toBe(3)
    expect(stderr).toContain(`: ${plain}.`)
    expect(stderr).toContain(`The refresh token of ${regional} is dead`)
    expect(Object.keys(JSON.parse(stdout).accounts)).toEqual([plain])
  })

  it('hands out no refresh token that may be spent or is dead', async () => {
    await storeLogin(machine, emulator, plain)
    emulator.once('refresh', { drop: 'after-commit' })
    await machine.run(['refresh'])
    const doubtful = await machine.run(['export', '--plain-text-tokens'])
    expect(doubtful).toMatchObject({ code: 7, stdout: '', stderr: expect.stringContaining('may be spent') })
    await storeLogin(machine, emulator, plain)
    emulator.expireRefreshTokens(plain)
    await machine.run(['refresh'])
    const dead = await machine.run(['export', '--plain-text-tokens'])
    expect(dead).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('is dead') })
    expect((await machine.run(['export', '--account', 'nobody@example.com', '--plain-text-tokens'])).code).toBe(3)
  })

  const fails = (): Promise<never> => Promise.reject(new Error('It is not refreshed here.'))
})

describeInTerminal('at a terminal', () => {
  it('import shows what it found and asks, and export is opened by the passphrase that was typed', async () => {
    const path = machine.file('cache.json', JSON.stringify({ [plain]: await elsewhere(plain) }))
    const declined = inTerminal(machine, ['import', path])
    await declined.shows('no other program may use them')
    await declined.shows('Store it?')
    declined.type(enter)
    await declined.shows('Nothing was stored.')
    expect((await declined.end()).code).toBe(0)
    expect(await accountsNow()).toBe('')

    const agreed = inTerminal(machine, ['import', path])
    await agreed.shows('Store it?')
    agreed.type('y')
    await agreed.shows('1 account imported')
    await agreed.end()
    capture('import', agreed)

    const { access_token, refresh_token, auth_url } = await elsewhere(regional)
    const nameless = machine.file('nameless.json', JSON.stringify({ access_token, refresh_token, auth_url }))
    const asked = inTerminal(machine, ['import', nameless, '--store', 'file:named'])
    await asked.shows('names no e-mail')
    await asked.shows('E-mail')
    asked.type(`${regional}${enter}`)
    await asked.shows('Store it?')
    asked.type('y')
    expect((await asked.end()).code).toBe(0)
    expect((await machine.run(['accounts', '--store', 'file:named'])).stdout).toBe(`${regional}\n`)

    const sealing = inTerminal(machine, ['export', '--file', 'sealed.json'])
    for (const question of ['A passphrase', 'The same again']) {
      await sealing.shows(question)
      sealing.type(`open sesame${enter}`)
    }
    await sealing.shows('Exported, sealed: plain@example.com, to sealed.json')
    expect(sealing.raw()).not.toContain('sesame')
    expect((await sealing.end()).code).toBe(0)
    capture('export', sealing)

    const opening = inTerminal(machine, ['import', 'sealed.json', '--store', 'file:second', '--yes'])
    await opening.shows('Passphrase of the export')
    opening.type(`open sesame${enter}`)
    await opening.shows('1 account imported')
    expect((await opening.end()).code).toBe(0)
  })
})
