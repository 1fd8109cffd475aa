/** What a database says, and what the store makes of it. */
import { describe, expect, it } from '@jest/globals'
import { StoreError } from '@owner-sso/core'
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
