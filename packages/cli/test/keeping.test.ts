import { join } from 'node:path'
import { useEmulator } from '@owner-sso/emulator/jest'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { describe, expect, it } from '@jest/globals'
import { credential, useMachine } from './machine.ts'
import { storeLogin } from './signed-in.ts'

const nineHours = 9 * 3600
const emulator = useEmulator()
const machine = useMachine(emulator)

describe('owner-sso status', () => {
  it('shows each account with its state, the time left as a bar, the region, and the store', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    await storeLogin(machine, emulator, 'regional@example.com')
    const { code, stdout } = await machine.run(['status'])
    expect(code).toBe(0)
    const [first, due, second, , , store] = stdout.split('\n')
    const home = new URL(emulator.authUrl).host
    const region = new URL(emulator.regionalAuthUrl).host
    expect(first).toMatch(new RegExp(String.raw`^plain@example\.com {5}valid  █{20}  7 h 5\d min left  ${home}$`, 'u'))
    expect(due).toMatch(/^ {22}next refresh in [56] h/u)
    expect(second).toMatch(new RegExp(String.raw`^regional@example\.com  valid  █+  .* left  ${region}$`, 'u'))
    expect(store).toBe(`Store: file:${machine.tokensFolder}`)
  })

  it('shows what is left, and what has to be done', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    const later = await machine.run(['status'], { ahead: 6 * 3600 })
    expect(later.stdout).toMatch(/valid {2}█{5}░{15} {2}1 h 5\d min left/u)
    const expired = await machine.run(['status'], { ahead: nineHours })
    expect(expired.stdout).toMatch(/expired {2}░{20} {2}refreshed when next used/u)
    emulator.expireRefreshTokens('plain@example.com')
    await machine.run(['token'], { ahead: nineHours })
    const dead = await machine.run(['status', '--account', 'plain@example.com'])
    expect(dead.code).toBe(3)
    expect(dead.stdout).toMatch(
      /run owner-sso login .*\n +Likely: Another program has used a copy of this refresh token\.\n/u,
    )
  })

  it('says of a refresh in doubt when it is settled', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    emulator.once('refresh', { drop: 'after-commit' })
    const { code, stderr } = await machine.run(['refresh'])
    const settle = 'To settle it, run owner-sso refresh again after a minute. owner-sso token gives the one before.'
    expect({ code, stderr }).toEqual({ code: 7, stderr: expect.stringContaining(settle) })
    const { stdout } = await machine.run(['status'])
    expect(stdout).toContain('in doubt')
    expect(stdout).toContain('A refresh was sent, and its answer did not come (UNREACHABLE).')
    expect((await machine.run(['token'])).code).toBe(0)
    expect((await machine.run(['refresh'], { ahead: 70 })).code).toBe(3)
  })

  it('tells of the last refresh, and what is wrong, until the next succeeds', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    const later = { ahead: 120 }
    await machine.run(['refresh'], { ...later, env: { OWNER_SSO_AUTH_URL: emulator.authUrl } })
    expect((await machine.run(['status'], { ahead: 180 })).stdout).toMatch(
      /refreshed 1 min ago, next refresh in [56] h/u,
    )
    emulator.once('refresh', { status: 503 })
    await machine.run(['refresh'], { ahead: 600 })
    const { stdout } = await machine.run(['status', '--json'], { ahead: 720 })
    expect(JSON.parse(stdout).accounts[0].why).toMatchObject({
      cause: 'unreachable',
      sentence: 'At its last refresh the service could not be reached, or was down (HTTP_503).',
      sure: true,
    })
    await machine.run(['refresh'], { ahead: 1300 })
    expect((await machine.run(['status'], { ahead: 1400 })).stdout).not.toContain('HTTP_503')
  })

  it('prints JSON without a token in it', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    const token = (await machine.run(['token'])).stdout.trim()
    const { stdout } = await machine.run(['status', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({
      store: `file:${machine.tokensFolder}`,
      accounts: [{ account: 'plain@example.com', state: 'valid', auth_url: emulator.authUrl }],
    })
    expect(stdout).not.toContain(token)
  })

  it('says so where nobody is signed in', async () => {
    const { code, stdout, stderr } = await machine.run(['status'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' })
    expect(stderr).toContain('owner-sso login')
    expect((await machine.run(['status', '--account', 'nobody@example.com'])).code).toBe(3)
  })
})

describe('owner-sso accounts', () => {
  it('prints one name a line', async () => {
    await storeLogin(machine, emulator, 'regional@example.com')
    await storeLogin(machine, emulator, 'plain@example.com')
    expect((await machine.run(['accounts'])).stdout).toBe('plain@example.com\nregional@example.com\n')
    expect(JSON.parse((await machine.run(['accounts', '--json'])).stdout).accounts).toHaveLength(2)
  })
})

describe('owner-sso refresh', () => {
  it('replaces the tokens, but not twice within a minute', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    const first = await machine.run(['refresh', '--json'])
    const second = await machine.run(['refresh', '--json'])
    expect([JSON.parse(first.stdout).refreshed, JSON.parse(second.stdout).refreshed]).toEqual([true, false])
    expect(second.stderr).toContain('less than a minute ago')
    expect(emulator.counters.refreshRequests).toBe(1)
  })
})

describe('owner-sso logout', () => {
  it('forgets the tokens, and says so once', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    const account = ['--account', 'plain@example.com']
    expect(JSON.parse((await machine.run(['logout', ...account, '--json'])).stdout).wasSignedIn).toBe(true)
    expect((await machine.run(['token', ...account])).code).toBe(3)
    const again = await machine.run(['logout', ...account])
    expect(again.code).toBe(0)
    expect(again.stderr).toContain('was not signed in')
  })
})

describe('a store with a record that is not ours', () => {
  it('is listed and copied as far as possible, and then the error says what is wrong', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    await storeLogin(machine, emulator, 'regional@example.com')
    const store = fileTokenStore({ path: machine.tokensFolder })
    await store.swap('stranger', 0, JSON.parse('{"hello":"world"}'), 'one')
    const listed = await machine.run(['accounts'])
    expect(listed).toMatchObject({ code: 6, stdout: 'plain@example.com\nregional@example.com\n' })
    expect(listed.stderr).toContain('not a token record')
    const shown = await machine.run(['status', '--json'])
    expect([shown.code, JSON.parse(shown.stdout).accounts.length]).toEqual([6, 2])
    expect(await machine.run(['status'])).toMatchObject({
      code: 6,
      stdout: expect.stringContaining('regional@example.com'),
    })
    const exported = await machine.run(['export', '--all', '--plain-text-tokens'])
    expect([exported.code, Object.keys(JSON.parse(exported.stdout).accounts)]).toEqual([
      6,
      ['plain@example.com', 'regional@example.com'],
    ])
    expect((await machine.run(['token'])).stderr).toContain('Several accounts')
    expect((await machine.run(['token', '--account', 'nobody@example.com'])).stderr).toContain(
      'Signed in: plain@example.com',
    )
    const checked = await machine.run(['doctor', '--json'])
    expect(checked.stdout).toMatch(/2 accounts/u)
    expect(checked.stdout).toContain('not a token record')
    const copied = await machine.run(['copy', `file:${machine.tokensFolder}`, 'file:second'])
    expect(copied.code).toBe(6)
    expect(copied.stderr).toMatch(/^Not all there are were copied: .*run this again for the rest\.$/mu)
    expect(copied.stderr).toContain('not a token record')
    const there = await machine.run(['accounts', '--store', 'file:second'])
    expect(there).toMatchObject({ code: 0, stdout: 'plain@example.com\nregional@example.com\n' })
  })
})

describe('owner-sso copy', () => {
  const key = Buffer.alloc(32, 7).toString('base64')

  it('copies all accounts into another store, and again only what is newer', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    await storeLogin(machine, emulator, 'regional@example.com')
    const copy = ['copy', `file:${machine.tokensFolder}`, 'file:second', '--json']
    expect(JSON.parse((await machine.run(copy)).stdout).copied).toBe(2)
    expect(JSON.parse((await machine.run(copy)).stdout).copied).toBe(0)
    await machine.run(['broker', 'invite', 'heating', '--account', 'plain@example.com'])
    await machine.run(copy)
    expect((await machine.run(['broker', 'list', '--store', 'file:second'])).stdout).toContain('heating')
    await machine.run(['broker', 'invite', 'house', '--store', 'file:second', '--account', 'plain@example.com'])
    await machine.run(['broker', 'invite', 'car', '--account', 'plain@example.com'])
    const left = await machine.run(copy)
    expect(JSON.parse(left.stdout).left).toEqual(['owner-sso:notes:clients'])
    expect(left.stderr).toContain('has its own owner-sso:notes:clients')
    const { stdout } = await machine.run(['token', '--account', 'plain@example.com', '--store', 'file:second'])
    expect(stdout).toBe((await machine.run(['token', '--account', 'plain@example.com'])).stdout)
  })

  it('says what is sealed without its key: it is no empty store, and no copy', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    const env = { OWNER_SSO_ENCRYPTION_KEY: key }
    await machine.run(['rekey'], { env })
    const plain = `file:${machine.tokensFolder}`
    expect((await machine.run(['copy', plain, 'file:sealed'], { env })).code).toBe(0)
    expect((await machine.run(['token', '--store', 'file:sealed'], { env })).code).toBe(0)
    for (const command of [
      ['accounts', '--store', 'file:sealed'],
      ['copy', 'file:sealed', 'file:lost'],
    ]) {
      const { code, stdout, stderr } = await machine.run(command)
      expect({ code, stdout }).toEqual({ code: 6, stdout: '' })
      expect(stderr).toContain('Set OWNER_SSO_ENCRYPTION_KEY')
    }
  })

  it('does not copy a store into itself', async () => {
    const { code } = await machine.run(['copy', 'file:tokens', `file:${join(machine.home, 'tokens')}`])
    expect(code).toBe(2)
  })
})

describe('a key that is set over a plain store', () => {
  const key = Buffer.alloc(32, 7).toString('base64')
  const env = { OWNER_SSO_ENCRYPTION_KEY: key }

  it.each([['default'], ['--store']])('leads to one command that seals it (store: %s)', async (from) => {
    await storeLogin(machine, emulator, 'plain@example.com')
    await storeLogin(machine, emulator, 'regional@example.com')
    const address = `file:${machine.tokensFolder}`
    const at = from === '--store' ? ['--store', address] : []
    const call = { env }
    const remedy = ['owner-sso rekey', ...at].join(' ')
    const before = emulator.requests.length
    const commands = [
      ['token', '--account', 'plain@example.com'],
      ['status'],
      ['accounts'],
      ['refresh', '--account', 'plain@example.com'],
      ['login', '--account', 'mfa@example.com', '--credential-file', machine.file('credential', credential)],
      ['import', '--account', 'mfa@example.com', '--yes', machine.file('set.json', '{"refresh_token":"r"}')],
    ]
    for (const command of at.length > 0 ? commands.slice(0, 1) : commands) {
      const { code, stderr } = await machine.run([...command, ...at], call)
      expect([command[0], code, stderr]).toEqual([command[0], 6, expect.stringContaining(`are plain`)])
      expect(stderr).toContain(`Seal them where they are with: ${remedy}\n`)
      expect(stderr).not.toMatch(/damaged|move .* away/u)
    }
    expect(emulator.requests).toHaveLength(before)
    expect((await machine.run(['doctor', ...at], call)).stdout).toContain(remedy)
    const [, ...rekey] = remedy.split(' ')
    const sealed = await machine.run(rekey, call)
    expect(sealed).toMatchObject({ code: 0, stderr: expect.stringContaining('None is left without it') })
    expect((await machine.run(['accounts', ...at], call)).stdout).toBe('plain@example.com\nregional@example.com\n')
    expect((await machine.run(['token', '--account', 'plain@example.com', ...at], call)).code).toBe(0)
    expect((await machine.run(['accounts', ...at])).stderr).toContain('Set OWNER_SSO_ENCRYPTION_KEY')
  })

  it('does not keep export from reading it', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    const exported = await machine.run(['export'], { env })
    expect(exported).toMatchObject({ code: 0, stderr: expect.stringContaining('Exported, sealed') })
    expect(exported.stdout).toContain('"sealed"')
    expect((await machine.run(['export', '--all'], { env })).code).toBe(0)
    await machine.run(['rekey'], { env })
    expect((await machine.run(['export'], { env })).code).toBe(0)
  })

  it('is explained by copy, with the command that seals the plain one of the two', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    const plain = `file:${machine.tokensFolder}`
    const told = await machine.run(['copy', plain, 'file:second'], { env })
    expect(told).toMatchObject({ code: 6, stderr: expect.stringContaining(`owner-sso rekey --store ${plain}\n`) })
  })

  it('seals what no refresh is under way for, and says so of the others', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    await storeLogin(machine, emulator, 'regional@example.com')
    const store = fileTokenStore({ path: machine.tokensFolder })
    const { record, version = 0 } = (await store.read('plain@example.com')) ?? {}
    const holder = { pid: 1 }
    const intent = { id: 'one', holder, replay: 0, at: Math.floor(Date.now() / 1000) }
    await store.swap('plain@example.com', version, JSON.parse(JSON.stringify({ ...record, intent })), 'two')
    const partly = await machine.run(['rekey'], { env })
    expect(partly).toMatchObject({ code: 6, stderr: expect.stringContaining('1 plain record left as it is') })
    expect((await store.read('regional@example.com'))?.record.state).toBe('sealed')
    const late = { ...intent, answerLost: true }
    await store.swap('plain@example.com', version + 1, JSON.parse(JSON.stringify({ ...record, intent: late })), 'three')
    expect((await machine.run(['rekey'], { env })).code).toBe(0)
    expect((await store.read('plain@example.com'))?.record.state).toBe('sealed')
  })
})

describe('owner-sso rekey', () => {
  const [oldKey, newKey] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString('base64'))
  const under = (...keys: (string | undefined)[]) => ({ env: { OWNER_SSO_ENCRYPTION_KEY: keys.join(',') } })

  it('changes the key where the store is, with the broker’s programs in it, and says when the old one may go', async () => {
    await storeLogin(machine, emulator, 'plain@example.com')
    const at: string[] = []
    await machine.run(['rekey'], under(oldKey))
    await machine.run(['broker', 'invite', 'heating', ...at], under(oldKey))
    const token = await machine.run(['token', ...at], under(oldKey))
    expect(token.code).toBe(0)
    const refused = await machine.run(['rekey', ...at], under(newKey))
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('NEW_KEY,OLD_KEY') })
    const changed = await machine.run(['rekey', ...at, '--json'], under(newKey, oldKey))
    expect(changed).toMatchObject({ code: 0, stderr: expect.stringContaining('The old key may go once every process') })
    expect(JSON.parse(changed.stdout).rewritten).toBeGreaterThanOrEqual(2)
    expect(await machine.run(['token', ...at], under(newKey))).toMatchObject({ code: 0, stdout: token.stdout })
    expect((await machine.run(['broker', 'list', ...at], under(newKey))).stdout).toContain('heating')
    const again = await machine.run(['rekey', ...at, '--json'], under(newKey, oldKey))
    expect(JSON.parse(again.stdout).rewritten).toBe(0)
    const stranger = await machine.run(['rekey', ...at], under(oldKey, Buffer.alloc(32, 9).toString('base64')))
    expect(stranger).toMatchObject({ code: 6, stderr: expect.stringContaining('keep the old one') })
  })
})
