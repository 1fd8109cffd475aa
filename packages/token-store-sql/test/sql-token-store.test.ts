/** What stands in the table, what goes over the wire, and what the store refuses. */
import { createHash, randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { inspect } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { createTokenManager, type TokenSet, type TokenStore } from '@owner-sso/token-manager'
import { Client, type Pool } from 'pg'
import { checkDatabase, createTable, type PostgresClient, type SqlClient, sqlTokenStore } from '../src/index.ts'
import { expectDamageIsMended } from '../../../tests/support/damaged-record.ts'
import { describeWithPostgres, type PostgresServer, startPostgres } from '../../../tests/support/postgres-server.ts'
import { account, rounds, sample } from '../../../tests/support/store-samples.ts'
import { listenerOf, openSqlite, type OpenSqlite, poolOf, sqliteFile, sqliteLibraries } from './databases.ts'

const migration = (dialect: string): string =>
  readFileSync(new URL(`../migrations/${dialect}.sql`, import.meta.url), 'utf8')

const hashOf = (name: string): string => createHash('sha256').update(name).digest('hex')

async function namesIn(store: TokenStore): Promise<string[]> {
  const names: string[] = []
  for await (const name of store.accounts?.() ?? []) names.push(name)
  return names
}

const issued = (name: string): TokenSet => ({
  access_token: `access-${name}`,
  refresh_token: `refresh-${name}`,
  token_type: 'Bearer',
  expires_at: Date.now() / 1000 + 28_800,
  auth_url: 'http://127.0.0.1:9',
})

/** Everything that comes back over a client, whatever its options make of values. */
async function expectToBeUnderstood(client: SqlClient, problems: readonly string[]): Promise<void> {
  const store = sqlTokenStore({ client })
  expect(await store.swap(account, 0, sample(1), 'one')).toMatchObject({ version: 1 })
  expect(await store.swap(account, 0, sample(1), 'one')).toMatchObject({ version: 1, record: sample(1) })
  expect(await store.swap(account, 0, sample(2), 'other')).toEqual({ conflict: true })
  expect(await store.swap(account, 1, sample(2), 'two', { expectedWriteId: 'one' })).toMatchObject({ version: 2 })
  const reads = await Promise.all([account, 'nobody'].map((name) => store.read(name)))
  expect(reads).toEqual([expect.objectContaining({ version: 2, record: sample(2) }), undefined])
  expect(await namesIn(store)).toEqual([account])
  expect((await checkDatabase(client)).map(({ about }) => about)).toEqual(problems)
}

describeWithPostgres('sqlTokenStore on PostgreSQL', () => {
  let server: PostgresServer
  let client: Pool
  const listeners: Client[] = []
  beforeAll(async () => {
    server = await startPostgres()
    client = poolOf(server.url)
    await createTable(client)
  }, 120_000)
  beforeEach(() => server.query('TRUNCATE owner_sso_tokens'))
  afterAll(async () => {
    await Promise.all([client, ...listeners].map((each) => each?.end()))
    await server?.stop()
  })

  test.each<[string, (oid: number) => unknown]>([
    ['text', () => String],
    ['bytes', () => (text: string) => Buffer.from(text)],
    ['bigints', (oid) => (oid === 20 || oid === 23 ? BigInt : String)],
    ['numbers', (oid) => (oid === 20 ? Number : String)],
  ])('understands a client whose types are %s', async (_, getTypeParser) => {
    const typed = poolOf(server.url, { types: { getTypeParser } })
    await expectToBeUnderstood(typed, ['durability'])
    await typed.end()
  })

  /** A client that notes the first word of every statement, and the word that tells ours from another's. */
  function noted(): { readonly client: PostgresClient; readonly statements: string[] } {
    const statements: string[] = []
    const query: PostgresClient['query'] = (text, values) => {
      statements.push(/SELECT|INSERT|UPDATE/u.exec(text)?.[0] ?? text)
      return client.query(text, values)
    }
    return { client: { query }, statements }
  }

  test('sends one statement to read and one to swap, and three for a whole refresh', async () => {
    const { client: counted, statements } = noted()
    // A table of its own: a token manager puts back what it finds lost.
    await createTable(client, { tableName: 'kept' })
    const store = sqlTokenStore({ client: counted, tableName: 'kept' })
    await store.swap(account, 0, sample(1), 'one')
    await store.swap(account, 1, sample(2), 'two')
    await store.read(account)
    await store.read('nobody')
    expect(statements.splice(0)).toEqual(['INSERT', 'UPDATE', 'SELECT', 'SELECT'])

    const sso = { refresh: async () => issued('new') }
    const tokens = createTokenManager({ issuer: sso, store, minRefreshInterval: 0 })
    await tokens.save('bob@example.com', issued('old'))
    statements.splice(0)
    await tokens.invalidate('bob@example.com', 'access-old')
    expect(await tokens.getAccessToken('bob@example.com')).toBe('access-new')
    // The record and what is known of the firewall; the intent; the new tokens.
    expect(statements).toEqual(['SELECT', 'UPDATE', 'UPDATE'])
  })

  test('gives a Client of pg one statement at a time, also where two stores share it (E12)', async () => {
    let [underWay, most] = [0, 0]
    class Counted extends Client {
      // oxlint-disable-next-line typescript/no-explicit-any -- as many forms as pg has
      override query(...call: any): any {
        most = Math.max(most, (underWay += 1))
        // oxlint-disable-next-line typescript/unbound-method, typescript/no-misused-promises -- called as a method, with what came
        const answer: unknown = Reflect.apply(Client.prototype.query, this, call)
        return Promise.resolve(answer).finally(() => (underWay -= 1))
      }
    }
    const single = new Counted(server.url)
    await single.connect()
    const [one, other] = [sqlTokenStore({ client: single }), sqlTokenStore({ client: single })]
    const storeOf = (index: number): TokenStore => (index % 2 === 0 ? one : other)
    const names = Array.from({ length: 10 }, (_, index) => `owner-${index}`)
    await Promise.all(names.map((name, index) => storeOf(index).swap(name, 0, sample(1), 'one')))
    // One that fails holds nobody up.
    await Promise.allSettled([sqlTokenStore({ client: single, tableName: 'missing' }).read(account)])
    const found = await Promise.all(names.map((name, index) => storeOf(index).read(name)))
    expect(found.map((each) => each?.version)).toEqual(names.map(() => 1))
    expect(most).toBe(1)
    await single.end()
  })

  test('keeps one row an account, which reads as it is', async () => {
    const store = sqlTokenStore({ client })
    await store.swap(account, 0, sample(1), 'one')
    await store.swap(account, 1, sample(2), 'two')
    await store.swap('a "name"\0', 0, sample(1), 'an\nid')
    const rows = await server.query('SELECT account, version, write_id FROM owner_sso_tokens ORDER BY version DESC')
    expect(rows).toEqual([
      { account, version: '2', write_id: 'two' },
      { account: String.raw`a \"name\"\u0000`, version: '1', write_id: String.raw`an\nid` },
    ])
    expect((await namesIn(store)).toSorted()).toEqual(['a "name"\0', account])
  })

  test.each(['record', 'account', 'write_id'])(
    'garbage in the column %s of a record of our own is replaced; in an account’s it is left',
    async (column) => {
      const damage = (name: string): Promise<unknown> =>
        client.query(`UPDATE owner_sso_tokens SET ${column} = 'gar"bage' WHERE account_hash = $1`, [hashOf(name)])
      await expectDamageIsMended(sqlTokenStore({ client }), `https://postgresql.${column.length}.example`, damage)
    },
  )

  test('has nothing of a token in the table with an encryption key', async () => {
    const store = sqlTokenStore({ client, encryptionKey: randomBytes(32) })
    await store.swap(account, 0, Object.assign(sample(1), { filling: 'sekret' }), 'one')
    expect(JSON.stringify(await server.query('SELECT * FROM owner_sso_tokens'))).not.toContain('sekret')
    await expect(sqlTokenStore({ client, encryptionKey: randomBytes(32) }).read(account)).rejects.toMatchObject({
      reason: 'wrong-key',
    })
  })

  test('lists many accounts page by page, each once, also while others come', async () => {
    const store = sqlTokenStore({ client })
    const names = Array.from({ length: rounds(2100, 10_000) }, (_, index) => `owner-${index}`)
    for (let from = 0; from < names.length; from += 100) {
      await Promise.all(names.slice(from, from + 100).map((name) => store.swap(name, 0, sample(1), 'one')))
    }
    const { client: counted, statements } = noted()
    expect((await namesIn(sqlTokenStore({ client: counted }))).toSorted()).toEqual(names.toSorted())
    expect(statements).toHaveLength(Math.floor(names.length / 2000) + 1)
  }, 120_000)

  test('is listed by a token manager with a statement for many accounts, not one for each (E13)', async () => {
    const { client: counted, statements } = noted()
    const store = sqlTokenStore({ client: counted })
    const sso = { refresh: (): Promise<TokenSet> => Promise.reject(new Error('nobody refreshes')) }
    const tokens = createTokenManager({ issuer: sso, store })
    const names = Array.from({ length: 450 }, (_, index) => `owner-${index}`)
    await tokens.save(account, issued('one'))
    const stored = await store.read(account)
    await Promise.all(names.map(async (name) => stored && store.swap(name, 0, stored.record, 'one')))
    await server.query("UPDATE owner_sso_tokens SET record = '{' WHERE account = 'owner-7'")
    statements.length = 0
    const listed: string[] = []
    const list = async (): Promise<void> => {
      for await (const name of tokens.accounts()) listed.push(name)
    }
    // One that can't be read is told after all others, whoever was read along with it.
    await expect(list()).rejects.toMatchObject({ reason: 'corrupt' })
    expect(listed.toSorted()).toEqual([account, ...names.filter((name) => name !== 'owner-7')].toSorted())
    expect(statements.length).toBeLessThan(10)
  })

  test('leaves a row that it did not write as it is, and says so after all others were listed', async () => {
    const store = sqlTokenStore({ client })
    for (const [column, value] of [
      ['account', 'bob'],
      ['account', '"'],
      ['account', String.raw`\ud800`],
      ['version', '0'],
      ['version', '-1'],
      ['version', '9007199254740993'],
      ['write_id', String.raw`\x`],
      ...['null', '[]', '7', '"text"', '{', ''].map((record) => ['record', record]),
    ]) {
      await server.query('TRUNCATE owner_sso_tokens')
      await store.swap('zoe', 0, sample(1), 'one')
      await store.swap(account, 0, sample(1), 'one')
      await client.query(`UPDATE owner_sso_tokens SET ${column} = $1 WHERE account <> 'zoe'`, [value])
      await expect(store.read(account)).rejects.toMatchObject({ code: 'ERR_SSO_STORE', reason: 'corrupt' })
      expect(await store.swap(account, 0, sample(1), 'two')).toEqual({ conflict: true })
      expect(await server.query(`SELECT ${column} FROM owner_sso_tokens WHERE account <> 'zoe'`)).toEqual([
        { [column ?? '']: value },
      ])
      if (column !== 'account') continue
      const names: string[] = []
      const list = async (): Promise<void> => {
        for await (const name of store.accounts?.() ?? []) names.push(name)
      }
      await expect(list()).rejects.toMatchObject({ reason: 'corrupt' })
      expect(names).toEqual(['zoe'])
    }
  })

  test('tells who listens of a change alone, and listens again after its connection broke', async () => {
    let opened = 0
    const subscriber = async (): Promise<Client> => {
      opened += 1
      const listener = await listenerOf(server.url)
      listeners.push(listener)
      return listener
    }
    const store = sqlTokenStore({ client, subscriber })
    const writer = sqlTokenStore({ client, subscriber })
    let version = 0
    const heard = async (): Promise<void> => {
      const told: string[] = []
      const end = store.watch?.(account, () => told.push('told'))
      for (let tries = 0; told.length === 0 && tries < 1000; tries += 1) {
        await writer.swap(account, version, sample(version + 1), `write ${version}`)
        version += 1
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      end?.()
      expect(told).not.toEqual([])
    }
    await heard()
    expect(opened).toBe(1)

    // A conflict and another account's write are no change; a write of a store that does not tell is one that nobody hears.
    const calls: string[] = []
    const end = store.watch?.(account, () => calls.push('called'))
    await writer.swap(account, 0, sample(0), 'conflict')
    await writer.swap('bob', 0, sample(1), 'one')
    await sqlTokenStore({ client }).swap(account, version, sample(version + 1), 'silent')
    version += 1
    await server.query('SELECT 1')
    end?.()
    expect(calls).toEqual([])

    await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
    await new Promise((resolve) => setTimeout(resolve, 50))
    await heard()
    expect(opened).toBe(2)
  }, 60_000)

  test('ends a connection that can’t listen, opens the next one later, and warns once (E11)', async () => {
    await using standby = await server.replica()
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue(undefined)
    const opened: { isEnded: boolean }[] = []
    const subscriber = async (): Promise<Client> => {
      const connection = { isEnded: false }
      opened.push(connection)
      return (await listenerOf(standby.url)).on('end', () => (connection.isEnded = true))
    }
    const store = sqlTokenStore({ client, subscriber })
    let watches = 0
    for (; watches < 2000 && !(opened.length > 1 && opened.every(({ isEnded }) => isEnded)); watches += 1) {
      store.watch?.(account, () => undefined)()
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(opened).toEqual([{ isEnded: true }, { isEnded: true }])
    expect(watches).toBeGreaterThan(2)
    expect(warned.mock.calls).toEqual([
      [expect.stringContaining('25006'), expect.objectContaining({ code: 'OWNER_SSO_SUBSCRIBER' })],
    ])
    warned.mockRestore()
  }, 60_000)

  test('makes its table once, however many ask, in a schema and under any name; the migration file makes the same', async () => {
    await server.query('CREATE SCHEMA "Ours"')
    const tableName = `Ours.a "b'; DROP TABLE owner_sso_tokens --`
    await Promise.all(Array.from({ length: 8 }, () => createTable(client, { tableName })))
    const store = sqlTokenStore({ client, tableName })
    await store.swap(account, 0, sample(1), 'one')
    await createTable(client, { tableName })
    expect((await store.read(account))?.version).toBe(1)

    const shape = `SELECT column_name, data_type, is_nullable, collation_name FROM information_schema.columns
      WHERE table_name = 'owner_sso_tokens' ORDER BY ordinal_position`
    const keys = "SELECT indexdef FROM pg_indexes WHERE tablename = 'owner_sso_tokens'"
    const made = [await server.query(shape), await server.query(keys)]
    await server.query('DROP TABLE owner_sso_tokens')
    await server.query(migration('postgresql'))
    expect([await server.query(shape), await server.query(keys)]).toEqual(made)
    expect(made[0]).toHaveLength(5)
  })

  test('tells of a type that has the name of the table, and makes no table', async () => {
    await server.query('CREATE TYPE taken AS ENUM ()')
    await expect(createTable(client, { tableName: 'taken' })).rejects.toMatchObject({
      code: 'ERR_SSO_STORE',
      message: expect.stringContaining('42710'),
    })
  })

  test('says what about a server can cost token sets', async () => {
    expect((await checkDatabase(client)).map(({ message }) => message)).toEqual([
      expect.stringContaining('fsync is off'),
    ])
    const replica = await server.replica()
    const standby = poolOf(replica.url, { options: '-c synchronous_commit=off' })
    const problems = await checkDatabase(standby)
    await standby.end()
    await replica.stop()
    expect(problems.map(({ about }) => about)).toEqual(['replica', 'durability', 'durability'])
  }, 60_000)
})

describe('sqlTokenStore on SQLite', () => {
  const file = sqliteFile()
  const opened: OpenSqlite[] = []
  const open = (): OpenSqlite => {
    const database = openSqlite('libsql', file.path)
    opened.push(database)
    return database
  }
  const client = open()
  beforeAll(() => createTable(client))
  afterAll(() => {
    for (const database of opened) database.close()
    file.remove()
  })
  beforeEach(() => void client.exec('DELETE FROM owner_sso_tokens'))

  test('garbage in a record of our own is replaced; in an account’s it is left', async () => {
    const damage = async (name: string): Promise<unknown> =>
      client.exec(`UPDATE owner_sso_tokens SET record = 'garbage' WHERE account_hash = '${hashOf(name)}'`)
    await expectDamageIsMended(sqlTokenStore({ client }), 'https://sqlite.example', damage)
  })

  test.each([
    ['libsql with safe integers', 'libsql', {}],
    ['node:sqlite with bigints', 'node:sqlite', { readBigInts: true }],
    ['node:sqlite with arrays for rows', 'node:sqlite', { returnArrays: true }],
    ['node:sqlite without bare names', 'node:sqlite', { allowBareNamedParameters: false }],
  ])('understands %s', async (_, library, options) => {
    const database = sqliteLibraries[library]?.(file.path, options)
    // The oldest Node has none.
    if (database === undefined) return
    opened.push(database)
    if ('defaultSafeIntegers' in database && typeof database.defaultSafeIntegers === 'function')
      database.defaultSafeIntegers(true)
    await expectToBeUnderstood(database, [])
  })

  test('waits for another’s transaction without blocking the process, and says where nothing was written', async () => {
    const other = open()
    const store = sqlTokenStore({ client })
    client.exec('PRAGMA busy_timeout = 0')
    other.exec('BEGIN IMMEDIATE')
    const swapped = store.swap(account, 0, sample(1), 'one')
    await new Promise((resolve) => setTimeout(resolve, 30))
    // Who reads waits for nobody.
    expect(await store.read(account)).toBeUndefined()
    other.exec('COMMIT')
    expect(await swapped).toMatchObject({ version: 1 })
    other.exec('BEGIN IMMEDIATE')
    await expect(store.swap(account, 1, sample(2), 'two')).rejects.toMatchObject({
      reason: 'busy',
      message: expect.stringContaining('Nothing was written'),
    })
    other.exec('ROLLBACK')
    expect(await store.read(account)).toMatchObject({ version: 1 })
  })

  test('whose disk is full takes no write, and the old record is kept', async () => {
    const store = sqlTokenStore({ client })
    await store.swap(account, 0, sample(1), 'one')
    client.exec('PRAGMA max_page_count = 1')
    const filling = Object.assign(sample(1), { filling: randomBytes(100_000).toString('base64') })
    await expect(store.swap(account, 1, filling, 'two')).rejects.toMatchObject({ reason: 'write-failed' })
    expect(await store.read(account)).toMatchObject({ version: 1, record: sample(1) })
    client.exec('PRAGMA max_page_count = 1073741823')
    expect(await store.swap(account, 1, filling, 'two')).toMatchObject({ version: 2 })
  })

  test('tells what is missing or in the way', async () => {
    const readOnly = open()
    readOnly.exec('PRAGMA query_only = ON')
    await expect(sqlTokenStore({ client: readOnly }).swap(account, 0, sample(1), 'one')).rejects.toMatchObject({
      reason: 'permissions',
    })
    await expect(sqlTokenStore({ client, tableName: 'missing' }).read(account)).rejects.toMatchObject({
      reason: 'unavailable',
      message: expect.stringContaining('createTable'),
    })
    const closed = open()
    opened.splice(opened.indexOf(closed), 1)
    const store = sqlTokenStore({ client: closed })
    closed.close()
    await expect(store.read(account)).rejects.toMatchObject({ reason: 'unavailable' })
  })

  test('makes its table once; the migration file makes the same', async () => {
    await createTable(client)
    const other = openSqlite('libsql', ':memory:')
    opened.push(other)
    other.exec(migration('sqlite'))
    const shape = `SELECT name, type, "notnull", pk FROM pragma_table_info('owner_sso_tokens')`
    const strict = "SELECT strict, wr FROM pragma_table_list('owner_sso_tokens')"
    for (const asked of [shape, strict]) {
      expect(other.prepare(asked).all({})).toEqual(client.prepare(asked).all({}))
    }
    expect(client.prepare(shape).all({})).toHaveLength(5)
    expect(await sqlTokenStore({ client: other }).swap(account, 0, sample(1), 'one')).toMatchObject({ version: 1 })
  })

  test('asks no rows of a statement that returns none: better-sqlite3 throws then', async () => {
    const strict: SqlClient = {
      exec: (text) => client.exec(text),
      prepare(text) {
        const statement = client.prepare(text)
        return {
          all(values) {
            if (Reflect.get(statement, 'reader') !== true)
              throw new TypeError('This statement does not return data. Use run() instead')
            return statement.all(values)
          },
        }
      },
    }
    await createTable(strict, { tableName: 'strict' })
    const store = sqlTokenStore({ client: strict, tableName: 'strict' })
    expect(await store.swap(account, 0, sample(1), 'one')).toMatchObject({ version: 1 })
    expect(await store.swap(account, 1, sample(2), 'two')).toMatchObject({ version: 2 })
    expect(await store.swap(account, 1, sample(2), 'three')).toEqual({ conflict: true })
    expect(await namesIn(store)).toEqual([account])
    expect(await checkDatabase(strict)).toEqual([])
  })

  test('says what about the settings can cost token sets', async () => {
    const database = open()
    expect(await checkDatabase(database)).toEqual([])
    database.exec('PRAGMA synchronous = NORMAL')
    expect((await checkDatabase(database)).map(({ message }) => message)).toEqual([expect.stringContaining('FULL')])
  })
})

describe('sqlTokenStore rejects', () => {
  const query = async (): Promise<{ rows: unknown[] }> => ({ rows: [] })
  const prepare = (): { all: () => unknown[] } => ({ all: () => [] })
  const exec = (): void => undefined

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a string', 'postgresql://127.0.0.1'],
    ['an object without methods', { query: true }],
    ['one that prepares statements, and executes none', { prepare }],
  ])('%s in place of a client', async (_name, client) => {
    expect(() => sqlTokenStore({ client: client as SqlClient })).toThrow(TypeError)
    await expect(createTable(client as SqlClient)).rejects.toThrow(TypeError)
  })

  test.each(['', '.', 'a.', '.a', 'a.b.c', 'a\0b', 'x'.repeat(64), `s.${'é'.repeat(32)}`, 7 as unknown as string])(
    'the table name %j',
    (tableName) => {
      expect(() => sqlTokenStore({ client: { query }, tableName })).toThrow(/^tableName must be/u)
    },
  )

  test('a mistyped option: the records would be plain text, or in another table', async () => {
    const typo: object = { encryptionkey: randomBytes(32) }
    expect(() => sqlTokenStore({ client: { query }, ...typo })).toThrow('Did you mean encryptionKey?')
    expect(() => sqlTokenStore({ client: { query }, subscriber: true as never })).toThrow(
      'subscriber must be a Client of pg',
    )
    expect(() => sqlTokenStore({ client: Promise.resolve({ query }) as never })).toThrow('; a promise came: await it')
    expect(() => sqlTokenStore(undefined as never)).toThrow('sqlTokenStore takes an object with client, tableName')
    const otherTypo: object = { tabelName: 'kept' }
    await expect(createTable({ query }, otherTypo)).rejects.toThrow('Did you mean tableName?')
  })

  test('to listen on SQLite, and an account’s name that is not Unicode', async () => {
    expect(() => sqlTokenStore({ client: { prepare, exec }, subscriber: { query } as never })).toThrow(TypeError)
    expect(sqlTokenStore({ client: { prepare, exec } })).not.toHaveProperty('watch')
    await expect(sqlTokenStore({ client: { query } }).read('\uD800')).rejects.toThrow(TypeError)
    expect(inspect(sqlTokenStore({ client: { query }, tableName: 'x'.repeat(63) }))).toContain('read')
  })
})
