/** What an error of the client means to who runs this. PostgreSQL’s own answers are in outage.test.ts, from a real server. */
import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { checkDatabase, createTable, type SqlClient, sqlTokenStore } from '../src/index.ts'

/** A client over which every statement fails. */
const failingWith = (error: unknown): SqlClient => ({
  query: async () => {
    throw error
  },
})
const withCode = (fields: object): Error => Object.assign(new Error('its own words'), fields)
const read = (client: SqlClient): Promise<unknown> => sqlTokenStore({ client }).read('ann')

describe('an answer of SQLite, by the name of its result or its number', () => {
  it.each<[object, string, string]>([
    [{ code: 'SQLITE_ERROR' }, 'unavailable', 'createTable'],
    [{ errcode: 1 }, 'unavailable', 'createTable'],
    [{ code: 'SQLITE_PERM' }, 'permissions', 'can’t be opened by this user'],
    [{ code: 'SQLITE_READONLY_DBMOVED' }, 'permissions', 'can’t be written by this user'],
    [{ errcode: 8 + 256 }, 'permissions', 'can’t be written by this user'],
    [{ code: 'SQLITE_IOERR_WRITE' }, 'write-failed', 'look at its log'],
    [{ code: 'SQLITE_CORRUPT' }, 'corrupt', 'restore it'],
    [{ code: 'SQLITE_FULL' }, 'write-failed', 'make room'],
    [{ errcode: 13 }, 'write-failed', 'make room'],
    [{ code: 'SQLITE_CANTOPEN' }, 'unavailable', 'can’t be opened'],
    [{ errcode: 26 + 512 }, 'corrupt', 'not a database'],
    [{ code: 'SQLITE_MISUSE' }, 'unavailable', 'can’t be reached'],
  ])('%j: %s, and what to do', async (fields, reason, advice) => {
    await expect(read(failingWith(withCode(fields)))).rejects.toMatchObject({
      code: 'ERR_SSO_STORE',
      reason,
      message: expect.stringContaining(advice),
    })
  })
})

it.each([
  { code: '28P01', severity: 'FATAL' },
  { code: '53100', severity: 'ERROR' },
  { code: 'SQLITE_FULL' },
  { errcode: 13 },
  { code: 'ECONNRESET', syscall: 'read' },
  { code: 'EPIPE' },
  {},
])('shows nothing of %j but its code', async (fields) => {
  const failure: unknown = await read(failingWith(withCode(fields))).catch((error: unknown) => error)
  expect(failure).toMatchObject({ name: 'StoreError', cause: { message: expect.any(String) } })
  expect(inspect(failure, { depth: Infinity })).not.toContain('its own words')
})

it.each([
  { code: '40001', severity: 'ERROR' },
  { code: '40P01', severity: 'ERROR' },
  { code: 'SQLITE_BUSY' },
  { code: 'SQLITE_LOCKED_SHAREDCACHE' },
  { errcode: 5 },
  { errcode: 6 },
])('what was rolled back because others wrote is tried again: %j', async (fields) => {
  let tries = 0
  const query = async (): Promise<{ rows: unknown[] }> => {
    tries += 1
    if (tries < 3) throw withCode(fields)
    return { rows: [] }
  }
  expect([await read({ query }), tries]).toEqual([undefined, 3])
})

it('a TypeError of a program is passed on; one that a driver throws for a closed database is a StoreError', async () => {
  const mistake = new TypeError('not a function')
  await expect(read(failingWith(mistake))).rejects.toBe(mistake)
  const closed = new TypeError('The database connection is not open')
  await expect(read(failingWith(closed))).rejects.toMatchObject({ reason: 'unavailable' })
  const full = Object.assign(new TypeError(), { code: 'SQLITE_FULL' })
  await expect(read(failingWith(full))).rejects.toMatchObject({ reason: 'write-failed' })
})

describe('the table', () => {
  /** A client whose statements meet these codes in turn, then success. */
  function meeting(...codes: string[]): { readonly client: SqlClient; readonly asked: () => number } {
    let asked = 0
    const query = async (): Promise<{ rows: unknown[] }> => {
      const code = codes[asked]
      asked += 1
      if (code !== undefined) throw withCode({ code, severity: 'ERROR' })
      return { rows: [] }
    }
    return { client: { query }, asked: () => asked }
  }

  it.each(['23505', '42P07', '42710'])(
    'is made by a second try where another process was faster (%s)',
    async (code) => {
      const { client, asked } = meeting(code)
      await createTable(client)
      expect(asked()).toBe(2)
      const inTheWay = meeting(code, code)
      await expect(createTable(inTheWay.client)).rejects.toMatchObject({ code: 'ERR_SSO_STORE' })
      expect(inTheWay.asked()).toBe(2)
    },
  )

  it('is not tried again where something else is wrong', async () => {
    const { client, asked } = meeting('42501')
    await expect(createTable(client)).rejects.toMatchObject({ reason: 'permissions' })
    expect(asked()).toBe(1)
  })
})

describe('a check tells all that can cost token sets', () => {
  const says = async (client: SqlClient): Promise<string[]> =>
    (await checkDatabase(client)).map(({ about, message }) => `${about}: ${message}`)
  const off = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }
  const on = { fsync: 'on', synchronous_commit: 'local', full_page_writes: 'on' }

  it('of PostgreSQL', async () => {
    const postgres = (row: object): SqlClient => ({ query: async () => ({ rows: [row] }) })
    expect(await says(postgres({ replica: true, ...off }))).toEqual([
      expect.stringMatching(/^replica: .*give the store the primary’s address/u),
      ...Object.keys(off).map((name) => expect.stringMatching(new RegExp(`^durability: .*Set ${name} = on`, 'u'))),
    ])
    expect(await says(postgres({ replica: false, ...on }))).toEqual([])
  })

  it.each<[unknown, string, RegExp[]]>([
    [2, 'wal', []],
    [3n, 'delete', []],
    [1, 'off', [/synchronous is less than FULL/u, /journal_mode is off/u]],
    [0, 'memory', [/synchronous is less than FULL/u, /journal_mode is memory/u]],
  ])('of SQLite with synchronous %s and journal_mode %s', async (synchronous, journal_mode, problems) => {
    const prepare = (text: string) => ({
      all: () => [text.endsWith('synchronous') ? { synchronous } : { journal_mode }],
    })
    const said = await says({ prepare, exec: () => undefined })
    expect(said).toEqual(problems.map((words) => expect.stringMatching(words)))
  })
})
