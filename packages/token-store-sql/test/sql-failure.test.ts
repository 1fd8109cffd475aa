/** What a database is asked, what it says, and what the store makes of it. */
import { EventEmitter } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { inspect } from 'node:util'
import { describe, expect, it, jest } from '@jest/globals'
import { StoreError } from '@owner-sso/token-manager'
import { givenUpInTime } from '../../../tests/support/unanswered.ts'
import { accountIn, asText, hashOf, recordIn } from '../src/record-row.ts'
import { listenWith } from '../src/change-hint.ts'
import { checkDatabase, sqlTokenStore } from '../src/index.ts'
import { createTable, quotedTable } from '../src/table.ts'
import { executed, replicaFailure, sqlStateOf } from '../src/sql-failure.ts'

const states =
  '25006 25P02 28P01 28000 3D000 3F000 42501 42703 42P01 42P10 53100 53200 53300 55P03 57014 57P01 58030 XX001 XX002 99999 42601'
const results = 'ERROR PERM READONLY READONLY_DBMOVED IOERR IOERR_WRITE CORRUPT FULL CANTOPEN NOTADB MISUSE'
const numbers = [1, 3, 8, 8 + 256, 10, 11, 13, 14, 26, 26 + 512, 2, 0]

/** What the statement's error becomes. */
async function meaning(fields: object): Promise<string> {
  const statement = async (): Promise<never> => {
    throw Object.assign(new Error('its own words'), fields)
  }
  try {
    return await executed(statement)
  } catch (failure) {
    if (!(failure instanceof StoreError)) throw failure
    return `${failure.reason}: ${failure.message.replace('its own words', 'NOT TO BE SHOWN')}`
  }
}

describe('an answer of the database means what it did in the last release', () => {
  it('from PostgreSQL, by its SQLSTATE', async () => {
    const meanings = states.split(' ').map(async (code) => [code, await meaning({ code, severity: 'ERROR' })])
    expect(Object.fromEntries(await Promise.all(meanings))).toMatchSnapshot()
  })

  it('from SQLite, by the name of its result or its number', async () => {
    const named = results.split(' ').map(async (name) => [name, await meaning({ code: `SQLITE_${name}` })])
    const numbered = numbers.map(async (errcode) => [`${errcode}`, await meaning({ errcode })])
    expect(Object.fromEntries(await Promise.all([...named, ...numbered]))).toMatchSnapshot()
  })

  it('from neither, by the code of the system', async () => {
    expect(await meaning({ code: 'EPIPE' })).toBe(await meaning({ code: 'XSQLITE_FULL' }))
    expect(await meaning({})).toMatch(/^unavailable: /u)
    expect(replicaFailure()).toMatchObject({ reason: 'unavailable', message: expect.stringContaining('read replica') })
  })
})

it.each([
  { code: '53100', severity: 'ERROR' },
  { code: 'SQLITE_FULL' },
  { errcode: 13 },
  { code: 'ECONNRESET', syscall: 'read' },
])('%j has a cause without words', async (fields) => {
  const statement = (): Promise<never> => Promise.reject(Object.assign(new Error('its own words'), fields))
  const failure: unknown = await executed(statement).catch((error: unknown) => error)
  expect(failure).toMatchObject({ name: 'StoreError', cause: { message: expect.any(String) } })
  expect(inspect(failure, { depth: Infinity })).not.toContain('its own words')
})

it.each<[object, string | undefined]>([
  [{ code: '57P01', severity: 'FATAL' }, '57P01'],
  [{ code: '57P01' }, undefined],
  [{ code: '57P011', severity: 'FATAL' }, undefined],
  [{ code: 'x57P01', severity: 'FATAL' }, undefined],
  [{ code: 57_014, severity: 'FATAL' }, undefined],
])('the SQLSTATE of %j is %s', (error, state) => {
  expect(sqlStateOf(error)).toBe(state)
})

it.each([
  { code: '40001', severity: 'ERROR' },
  { code: '40P01', severity: 'ERROR' },
  { code: 'SQLITE_BUSY' },
  { code: 'SQLITE_LOCKED_SHAREDCACHE' },
  { errcode: 5 },
  { errcode: 6 },
])('what was rolled back because others wrote is tried again: %j', async (error) => {
  let tries = 0
  const run = async (): Promise<string> => {
    tries += 1
    if (tries < 3) throw Object.assign(new Error('rolled back'), error)
    return 'done'
  }
  expect([await executed(run), tries]).toEqual(['done', 3])
})

it('an error of a program is its own', async () => {
  const wrong = new TypeError('not a function')
  await expect(executed(() => Promise.reject(wrong))).rejects.toBe(wrong)
  const failure = new StoreError('corrupt', 'words')
  await expect(executed(() => Promise.reject(failure))).rejects.toBe(failure)
})

it('a closed SQLite database is unavailable, though its drivers throw what programs throw', async () => {
  const closed = new TypeError('The database connection is not open')
  await expect(executed(() => Promise.reject(closed))).rejects.toMatchObject({ reason: 'unavailable' })
  const other = new TypeError('Not: The database connection is not open')
  await expect(executed(() => Promise.reject(other))).rejects.toBe(other)
})

describe('a row', () => {
  const hash = hashOf('ann "x"')
  const row = { account: asText('ann "x"'), version: 7, write_id: asText('w"'), record: '{"schema":1}' }

  it('is read as it was written', () => {
    expect(recordIn(row, hash)).toEqual({ version: 7, writeId: 'w"', record: { schema: 1 } })
    expect(recordIn({ ...row, version: '7' }, hash).version).toBe(7)
    expect(accountIn(row, hash)).toBe('ann "x"')
  })

  it.each<[object]>([
    [{ account: 'bob' }],
    [{ account: 'ann "x"' }],
    [{ version: 0 }],
    [{ version: 1.5 }],
    [{ version: 'x' }],
    [{ write_id: '"' }],
    [{ record: '[]' }],
    [{ record: 'null' }],
    [{ record: '7' }],
    [{ record: '{' }],
  ])('with %j is none', (wrong) => {
    expect(() => recordIn({ ...row, ...wrong }, hash)).toThrow(expect.objectContaining({ reason: 'corrupt' }))
  })
})

it.each<[unknown, string | undefined]>([
  ['a', '"a"'],
  ['A.b c', '"A"."b c"'],
  ['a"b', '"a""b"'],
  ['x'.repeat(63), `"${'x'.repeat(63)}"`],
  ['x'.repeat(64), undefined],
  [`${'ä'.repeat(31)}x`, `"${'ä'.repeat(31)}x"`],
  ['ä'.repeat(32), undefined],
  ['a.b.c', undefined],
  ['a.', undefined],
  ['.a', undefined],
  ['', undefined],
  ['a\0', undefined],
  ['\ud800', undefined],
  [7, undefined],
])('the table %j is written %s', (name, quoted) => {
  const outcome = (): string => {
    try {
      return quotedTable(name as string)
    } catch (error) {
      return error instanceof TypeError ? 'refused' : 'broken'
    }
  }
  expect(outcome()).toBe(quoted ?? 'refused')
})

describe('the table', () => {
  /** What a statement to make it meets: these codes in turn, then success. */
  const made = (...codes: string[]): { asked: () => number; done: Promise<void> } => {
    let asked = 0
    const query = async (): Promise<{ rows: unknown[] }> => {
      const code = codes[asked]
      asked += 1
      if (code !== undefined) throw Object.assign(new Error(), { code, severity: 'ERROR' })
      return { rows: [] }
    }
    return { asked: () => asked, done: createTable({ query }) }
  }

  it.each(['23505', '42P07', '42710'])('is asked for once more where another was faster (%s)', async (code) => {
    const { asked, done } = made(code)
    await done
    expect(asked()).toBe(2)
    const inTheWay = made(code, code)
    await expect(inTheWay.done).rejects.toBeInstanceOf(StoreError)
    expect(inTheWay.asked()).toBe(2)
  })

  it('is asked for no more where something else is wrong', async () => {
    const { asked, done } = made('42501')
    await expect(done).rejects.toMatchObject({ reason: 'permissions' })
    expect(asked()).toBe(1)
  })
})

describe('a connection that listens', () => {
  const settled = setImmediate
  const connection = (query = (_text: string): Promise<unknown> => Promise.resolve()) =>
    Object.assign(new EventEmitter(), { query, end: () => Promise.resolve() })

  it.each<[string, (client: EventEmitter) => void]>([
    ['ends', (client) => client.emit('end')],
    ['fails', (client) => client.emit('error')],
  ])('is opened again at the next watch after it %s, not before', async (_how, breaks) => {
    const opened: EventEmitter[] = []
    const listen = listenWith(async () => {
      const client = connection()
      opened.push(client)
      return client
    })
    const told: string[] = []
    listen('hash', () => told.push('first'))
    listen('hash', () => told.push('second'))
    await settled()
    expect(opened).toHaveLength(1)
    breaks(opened[0]!)
    await settled()
    expect(opened).toHaveLength(1)
    listen('other', () => told.push('other'))
    await settled()
    // What the first one says afterwards is not the second one's end.
    opened[0]?.emit('end')
    listen('another', () => told.push('another'))
    await settled()
    opened[1]?.emit('notification', { payload: 'hash' })
    opened[1]?.emit('notification', {})
    expect([opened.length, told]).toEqual([2, ['first', 'second']])
  })

  it('that was given and can’t listen is asked once', async () => {
    const warned = jest.spyOn(process, 'emitWarning').mockReturnValue(undefined)
    let asked = 0
    const given = connection(async () => {
      asked += 1
      throw new Error('denied')
    })
    const listen = listenWith(given)
    for (let watch = 0; watch < 3; watch += 1) {
      listen('hash', () => undefined)
      await settled()
    }
    expect([asked, warned.mock.calls.length]).toEqual([1, 1])
    warned.mockRestore()
  })

  it('hears one channel, and each watch until its own end', async () => {
    const asked: string[] = []
    const client = connection(async (text) => asked.push(text))
    const listen = listenWith(client)
    const told: string[] = []
    const endOfFirst = listen('hash', () => told.push('first'))
    const endOfSecond = listen('hash', () => told.push('second'))
    await settled()
    endOfFirst()
    endOfFirst()
    client.emit('notification', { payload: 'hash' })
    endOfSecond()
    client.emit('notification', { payload: 'hash' })
    expect([asked, told]).toEqual([['LISTEN owner_sso_tokens'], ['second']])
  })
})

describe('a statement', () => {
  it('that is answered with no rows is answered with nothing', async () => {
    const store = sqlTokenStore({ client: { query: async () => ({ rows: [null, 7] }) } })
    expect(await store.read('ann')).toBeUndefined()
  })

  it('that a replica answers is not answered', async () => {
    const store = sqlTokenStore({ client: { query: async () => ({ rows: [{ replica: true, account: null }] }) } })
    await expect(store.read('ann')).rejects.toEqual(replicaFailure())
  })

  it('has a second and a half, and is repeated for one', async () => {
    expect(await givenUpInTime(executed)).toBe('The database did not answer in time.')
    for (const [last, tries] of [
      [1000, 3],
      [1001, 2],
    ]) {
      const times = [0, 500, last, 2000]
      const clock = jest.spyOn(performance, 'now').mockImplementation(() => times.shift() ?? 2000)
      let tried = 0
      const busy = async (): Promise<never> => {
        tried += 1
        throw Object.assign(new Error(), { code: 'SQLITE_BUSY' })
      }
      await expect(executed(busy)).rejects.toMatchObject({ reason: 'busy' })
      clock.mockRestore()
      expect(tried).toBe(tries)
    }
  })
})

it('a database is asked about all that can cost token sets', async () => {
  const ask = async (row: object): Promise<string[]> => {
    const problems = await checkDatabase({ query: async () => ({ rows: [row] }) })
    return problems.map(({ about, message }) => `${about}: ${message}`)
  }
  const off = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }
  const consequence = 'is off: a crash of the server loses the newest token sets.'
  expect(await ask({ replica: true, ...off })).toEqual([
    'replica: This server is a read replica: give the store the primary’s address.',
    ...Object.keys(off).map((name) => `durability: ${name} ${consequence} Set ${name} = on.`),
  ])
  expect(await ask({ replica: false, fsync: 'on', synchronous_commit: 'local', full_page_writes: 'on' })).toEqual([])

  const pragmas = async (synchronous: unknown, journal: string): Promise<string[]> => {
    const all = (text: string): unknown[] =>
      text.endsWith('synchronous') ? [{ synchronous }] : [{ journal_mode: journal }]
    const problems = await checkDatabase({ prepare: (text) => ({ all: () => all(text) }), exec: () => undefined })
    return problems.map(({ about, message }) => `${about}: ${message}`)
  }
  const [unsynced, torn] = [
    'durability: PRAGMA synchronous is less than FULL: a power loss loses the newest token sets. Set it to FULL.',
    (mode: string) =>
      `durability: PRAGMA journal_mode is ${mode}: a process that dies while it writes damages the file. Set it to WAL.`,
  ] as const
  expect(await pragmas(2, 'wal')).toEqual([])
  expect(await pragmas(3n, 'delete')).toEqual([])
  expect(await pragmas(1, 'off')).toEqual([unsynced, torn('off')])
  expect(await pragmas(0, 'memory')).toEqual([unsynced, torn('memory')])
})

it.each<[object, string]>([
  [{ errcode: 13 }, 'SQLite answered FULL'],
  [{ code: 'SQLITE_FULL' }, 'SQLite answered FULL'],
  [{ code: '53100', severity: 'ERROR' }, 'PostgreSQL answered 53100'],
])('a TypeError that is the database’s own, as %j, is no program’s', async (fields, words) => {
  const run = (): Promise<never> => Promise.reject(Object.assign(new TypeError(), fields))
  await expect(executed(run)).rejects.toMatchObject({ reason: 'write-failed', message: expect.stringContaining(words) })
})
