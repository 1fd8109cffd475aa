import { chmodSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { useEmulator } from '@owner-sso/emulator/jest'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { describeWithPostgres, type PostgresServer, startPostgres } from '../../../tests/support/postgres-server.ts'
import { type Machine, useMachine } from './machine.ts'

const sealing = { OWNER_SSO_ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') }
const emulator = useEmulator()
const machine = useMachine(emulator)

describeWithPostgres('a store in PostgreSQL', () => {
  let server: PostgresServer
  let address: (password: string) => string

  beforeAll(async () => {
    server = await startPostgres({ withPassword: ['tokens', 'guest'] })
    await server.query("CREATE ROLE tokens LOGIN PASSWORD 'hush'")
    await server.query("CREATE ROLE guest LOGIN PASSWORD 'hush'")
    await server.query('GRANT CREATE ON SCHEMA public TO tokens')
    address = (password) => server.url.replace('postgres@', `tokens:${password}@`)
  }, 120_000)
  afterAll(() => server?.stop())

  it('holds what a login stored, sealed, for every command, and never shows its password', async () => {
    const env = { OWNER_SSO_STORE: address('hush'), ...sealing }
    const said = [await machine.signIn('plain@example.com', { env })]
    for (const args of [['token'], ['status'], ['doctor'], ['status', '--json']]) {
      said.push(await machine.run(args, { env }))
    }
    expect(said.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0])
    expect(said[2]?.stdout).toContain(`Store: postgresql://127.0.0.1:${server.port}/postgres`)
    expect(said[3]?.stdout).toContain('fsync is off')
    expect(said.map(({ stdout, stderr }) => stdout + stderr).join('')).not.toContain('hush')
    expect(said[3]?.stdout).toContain('records are sealed (AES-256-GCM); the key is in OWNER_SSO_ENCRYPTION_KEY')
    const records = (await server.query('SELECT record FROM owner_sso_tokens')).map(({ record }) => String(record))
    expect(records.filter((record) => record.includes('"state":"sealed"')).length).toBeGreaterThan(0)
    expect(records.some((record) => record.includes('token"'))).toBe(false)

    // Who may not make a table uses the one that is there.
    await server.query('GRANT SELECT, INSERT, UPDATE ON owner_sso_tokens TO guest')
    const guest = { OWNER_SSO_STORE: address('hush').replace('tokens:', 'guest:'), ...sealing }
    expect((await machine.run(['token'], { env: guest })).code).toBe(0)
  })

  it('tells a wrong password, a server that is down, and one without TLS apart', async () => {
    const run = (store: string): ReturnType<Machine['run']> =>
      machine.run(['status'], { env: { OWNER_SSO_STORE: store } })
    const [wrong, down, plain, inQuery] = [
      await run(address('wrong')),
      await run('postgres://ann:hush@127.0.0.1:1/tokens'),
      await run(`${address('hush')}?sslmode=require`),
      await run('postgres://127.0.0.1/tokens?password=hush'),
    ]
    expect([wrong, down, plain, inQuery].map((ended) => ended?.code)).toEqual([6, 6, 6, 2])
    expect(wrong?.stderr).toContain('does not accept the user name and password')
    expect(down?.stderr).toContain('PostgreSQL at 127.0.0.1:1: ')
    for (const ended of [wrong, down, plain, inQuery]) expect(ended?.stderr).not.toMatch(/hush|wrong@/u)
  })
})

/** From Node 22.13 on. */
const hasSqlite = process.getBuiltinModule('node:sqlite' as 'node:os') !== undefined
const sqliteAt = (name: string): { env: NodeJS.ProcessEnv; path: string } => {
  const path = join(machine.home, name)
  return { env: { OWNER_SSO_STORE: `sqlite:${path}`, ...sealing }, path }
}

if (hasSqlite) {
  it('a SQLite file holds what a login stored, sealed, and private from its first byte on', async () => {
    const { env, path } = sqliteAt('of its own/tokens.db')
    expect((await machine.signIn('plain@example.com', { env })).code).toBe(0)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const content = readFileSync(path, 'latin1')
    expect([content.includes('"state":"sealed"'), content.includes('token"')]).toEqual([true, false])
    expect((await machine.run(['token'], { env })).code).toBe(0)
    const { stdout } = await machine.run(['doctor'], { env })
    expect(stdout).toContain('only you can read it')
    expect(stdout).toContain('the key is in OWNER_SSO_ENCRYPTION_KEY')
    chmodSync(path, 0o644)
    const shown = await machine.run(['doctor'], { env })
    expect([shown.code, shown.stdout]).toEqual([6, expect.stringContaining(`Other users can read ${path}`)])
    const other = sqliteAt('no database')
    writeFileSync(other.path, 'something else, and long enough to be looked at'.repeat(100))
    const refused = await machine.run(['token'], { env: other.env })
    expect([refused.code, refused.stderr]).toEqual([6, expect.stringContaining('can’t be opened as a SQLite database')])
  })
} else {
  it('a Node without SQLite says what to do', async () => {
    const { env } = sqliteAt('tokens.db')
    const { code, stderr } = await machine.signIn('plain@example.com', { env })
    expect([code, stderr]).toEqual([2, expect.stringContaining('Run the command with Node 22.13 or newer')])
  })
}
