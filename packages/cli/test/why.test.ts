/** `owner-sso why`: one sentence for why an account is signed out, with what it rests on. */
import { hostname } from 'node:os'
import { useEmulator } from '@owner-sso/emulator/jest'
import { expect, it } from '@jest/globals'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { useMachine } from './machine.ts'
import { storeLogin } from './signed-in.ts'

const account = 'plain@example.com'
const emulator = useEmulator()
const machine = useMachine(emulator)
const host = hostname().slice(0, 20)

it('says the cause, how sure that is, what to do, and what it rests on; for programs with all events', async () => {
  await storeLogin(machine, emulator, account)
  emulator.expireRefreshTokens(account)
  expect((await machine.run(['refresh'])).code).toBe(3)
  const { code, stdout, stderr } = await machine.run(['why', account])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const [sentence, sureness, toDo, rests, ...lines] = stdout.trimEnd().split('\n')
  expect(sentence).toBe(`${account}: Another program has used a copy of this refresh token.`)
  expect(sureness).toBe(
    'That is likely. Or the service ended the session: the password was changed, or somebody signed out there. Or an older copy of the store was put back.',
  )
  expect(toDo).toMatch(/^What to do: Find who else has it: .*\.$/u)
  expect(rests).toBe('It rests on:')
  expect(lines).toEqual([
    expect.stringMatching(
      /^ {2}\d{4}-\d\d-\d\d \d\d:\d\d UTC: signed-in, by process \d+ on .+, refresh token [\w-]{8}$/u,
    ),
    expect.stringMatching(
      /^ {2}.* UTC: ended \(asked, login_required\), by process \d+ on .+, refresh token [\w-]{8}$/u,
    ),
    '  As far as the record tells, nobody here had sent that token before.',
    '  The service says “The refresh_token is expired.”.',
  ])
  expect(lines[1]).toContain(` on ${host},`)
  const { events, status, why, ...others } = JSON.parse((await machine.run(['why', account, '--json'])).stdout)
  expect(others).toEqual({ account, store: `file:${machine.tokensFolder}` })
  expect(status).toMatchObject({ state: 'reauthentication-required', reason: 'refresh_token_rejected' })
  expect(why).toMatchObject({ cause: 'spent-elsewhere', sure: false })
  expect(events).toMatchObject([{ what: 'signed-in' }, { what: 'ended', why: 'asked', code: 'login_required', host }])
})

it('is about the only account where none is named, and about one that was never here', async () => {
  await storeLogin(machine, emulator, account)
  expect((await machine.run(['why'])).stdout).toMatch(/^plain@example\.com: It is signed in\.\nThat is likely\. /u)
  expect((await machine.run(['why', 'Nobody@example.com'])).stdout).toMatch(
    /^nobody@example\.com: The store has nothing of this account: .*\nThat is sure\.\nWhat to do: [^\n]*\n$/u,
  )
  await storeLogin(machine, emulator, 'regional@example.com')
  expect((await machine.run(['why'])).code).toBe(2)
})

it('says what can be no name, and takes an empty option for none', async () => {
  await storeLogin(machine, emulator, account)
  for (const named of ['', ' ', 'SUB:1']) {
    const { code, stderr } = await machine.run(['why', named])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining('Name the account by its e-mail.') })
  }
  expect((await machine.run(['why', '--account', ' '])).stdout).toContain('It is signed in.')
  expect((await machine.run(['login', '--account', ' '])).stderr).toContain('No account was named.')
})

it('sends nobody to sign in whose tokens are as good as before, neither does the refresh that failed', async () => {
  await storeLogin(machine, emulator, account)
  emulator.applyScenario('client-rejected')
  expect((await machine.run(['refresh'])).stderr).toContain(
    'Nobody has to sign in again yet. What happened: owner-sso why',
  )
  expect((await machine.run(['why'])).stdout).toMatch(/That is sure\.\n.* The tokens are as good as before\.$/mu)
})

it('names a store that another key has sealed', async () => {
  const [first, second] = [1, 2].map((byte) => Buffer.alloc(32, byte))
  const store = fileTokenStore({ path: machine.tokensFolder, encryptionKey: first })
  await store.swap('ann@example.com', 0, { schema: 1, state: 'signed-out', generation: 1 }, 'w')
  const env = { OWNER_SSO_ENCRYPTION_KEY: second?.toString('base64') ?? '' }
  const { code, stdout } = await machine.run(['why', 'ann@example.com'], { env })
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('sealed with another key') })
})

it('goes on over an export and an import, on another machine and under its key', async () => {
  await storeLogin(machine, emulator, account)
  await machine.run(['refresh'], { ahead: 120 })
  const key = { env: { OWNER_SSO_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64') } }
  expect((await machine.run(['export', '--file', 'moved.json'], key)).code).toBe(0)
  const elsewhere = ['--store', `file:${machine.home}/elsewhere`]
  expect((await machine.run(['import', 'moved.json', '--yes', ...elsewhere], key)).code).toBe(0)
  const { stdout } = await machine.run(['why', account, '--json', ...elsewhere], key)
  expect(JSON.parse(stdout).events.map(({ what, why }: Record<string, string>) => [what, why])).toEqual([
    ['signed-in', undefined],
    ['refreshed', 'asked'],
    ['signed-in', 'brought'],
  ])
  // Both go on: the one that was first has spent what the other has.
  await machine.run(['refresh'], { ahead: 300 })
  expect((await machine.run(['refresh', '--account', account, ...elsewhere], { ...key, ahead: 300 })).code).toBe(3)
  expect((await machine.run(['why', account, ...elsewhere], key)).stdout).toContain(
    'The store or program that these tokens came from',
  )
})
