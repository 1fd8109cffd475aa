/**
 * Executes a statement within a deadline, and says what a failed one means to the person who runs this, as a StoreError. The
 * client's own message is never passed on: it may name an address, or what was written.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { StoreError, type StoreErrorReason, answeredInTime } from '@owner-sso/token-manager'

/** Milliseconds within which every statement has to be answered. By default clients wait for ever for a stopped server. */
const deadline = 1500
/** Milliseconds for which a statement is repeated that was rolled back because others were writing. */
const patience = 1000

type Meaning = readonly [reason: StoreErrorReason, sentence: string]

/** It was rolled back because others were writing at that moment: the same again may succeed. */
const others: Meaning = ['busy', 'others write there. Nothing was written.']
const waited: Meaning = ['busy', 'the row was locked for too long: look for an open transaction. Nothing was written.']
const noTable: Meaning = [
  'unavailable',
  'the table is not there, or is not this store’s: make it with createTable or the migration file.',
]
const full: Meaning = ['write-failed', 'its disk is full: make room. The old record stands.']
const readOnly: Meaning = [
  'unavailable',
  'this server is a read replica, or takes no writes: give the store the primary’s address.',
]
const damaged: Meaning = ['corrupt', 'the database is damaged: restore it, and sign in again.']
const diskFailed: Meaning = ['write-failed', 'its disk fails: look at its log.']

/** By SQLSTATE (PostgreSQL, Appendix A), or its class. */
const states: Readonly<Record<string, Meaning>> = {
  '25006': readOnly,
  '25P02': ['unavailable', 'your transaction has failed: give the store a client without one.'],
  '28': ['permissions', 'it does not accept the user name and password.'],
  '3D000': ['unavailable', 'there is no database of that name.'],
  '3F000': ['unavailable', 'there is no schema of that name: create it.'],
  '40001': others,
  '40P01': others,
  '42501': [
    'permissions',
    'this user is not permitted to: grant SELECT, INSERT and UPDATE on the table, and USAGE on its schema.',
  ],
  '42703': noTable,
  '42P01': noTable,
  '42P10': noTable,
  '53100': full,
  '53200': ['write-failed', 'it is out of memory.'],
  '53300': ['unavailable', 'it has too many connections: make your pools smaller, or use a pooler.'],
  '55P03': waited,
  '57014': waited,
  '57': ['unavailable', 'it is starting, stopping or failing over.'],
  '58': diskFailed,
  XX001: damaged,
  XX002: damaged,
}

/** The numbers of SQLite's results, and what they mean (SQLite, Result and Error Codes). */
const results: Readonly<Record<string, readonly [number, ...Meaning]>> = {
  ERROR: [1, ...noTable],
  PERM: [3, 'permissions', 'the file can’t be opened by this user.'],
  BUSY: [5, ...others],
  LOCKED: [6, ...others],
  READONLY: [8, 'permissions', 'the file can’t be written by this user.'],
  IOERR: [10, ...diskFailed],
  CORRUPT: [11, ...damaged],
  FULL: [13, ...full],
  CANTOPEN: [14, 'unavailable', 'the file can’t be opened.'],
  NOTADB: [26, 'corrupt', 'the file is not a database: choose another path.'],
}

/** SQLite has no result code of its own for it. */
const nested = /^cannot start a transaction within a transaction/u
const yours: Meaning = ['unavailable', 'a transaction of yours is open: give the store a client of its own.']

/**
 * Runs one statement. It is repeated only where the database has said that it rolled it back.
 *
 * @throws StoreError; unless its reason is `busy` or `permissions`, the statement may have been carried out, or may still be
 */
export async function executed<Value>(run: () => Promise<Value>): Promise<Value> {
  return answeredInTime(deadline, () => repeated(run), late)
}

const late = (): StoreError => new StoreError('unavailable', 'The database did not answer in time.')

async function repeated<Value>(run: () => Promise<Value>): Promise<Value> {
  const began = performance.now()
  for (;;) {
    try {
      return await run()
    } catch (error) {
      if (performance.now() - began > patience || meaningOf(error)?.[1] !== others[1]) throw failure(error)
    }
    // Random, so that writers that collided do not collide again.
    await pause(1 + 20 * Math.random())
  }
}

/** What a replica's answer is turned into. */
export function replicaFailure(): StoreError {
  return new StoreError('unavailable', `PostgreSQL answered: ${readOnly[1]}`)
}

/** The five characters of PostgreSQL; `undefined` where the error is not one of its own. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = propertyOf(error, 'code')
  // Its errors have a severity; those of the system have codes as well, such as EPIPE.
  return typeof code === 'string' && /^[0-9A-Z]{5}$/u.test(code) && propertyOf(error, 'severity') !== undefined
    ? code
    : undefined
}

/** SQLite's result code, as better-sqlite3 and `node:sqlite` tell it. */
function resultOf(error: unknown): string | undefined {
  const [, name] = /^SQLITE_([A-Z]+)/u.exec(String(propertyOf(error, 'code'))) ?? []
  if (name !== undefined) return name
  const code = propertyOf(error, 'errcode')
  // The lower byte is the result, the rest tells more of it.
  return typeof code === 'number'
    ? Object.keys(results).find((each) => results[each]?.[0] === (code & 0xff))
    : undefined
}

function meaningOf(error: unknown): Meaning | undefined {
  const state = sqlStateOf(error)
  if (state !== undefined) return states[state] ?? states[state.slice(0, 2)]
  const result = resultOf(error)
  if (result === 'ERROR' && nested.test(String(propertyOf(error, 'message')))) return yours
  const [, ...meaning] = results[result ?? ''] ?? []
  return meaning.length === 0 ? undefined : meaning
}

/** What SQLite's drivers throw, as a `TypeError`, where the connection was closed. */
const closed = /^The database connection is not open/u

/** Whether it is wrong in a program, and not in the database. */
function isMistake(error: unknown): boolean {
  const isOfDatabase = sqlStateOf(error) !== undefined || resultOf(error) !== undefined
  return error instanceof TypeError && !isOfDatabase && !closed.test(error.message)
}

function failure(error: unknown): unknown {
  if (error instanceof StoreError) return error
  if (isMistake(error)) return error
  const [name, code] = sqlStateOf(error) ? ['PostgreSQL', sqlStateOf(error)] : ['SQLite', resultOf(error)]
  const meaning = meaningOf(error)
  if (meaning) return new StoreError(meaning[0], `${name} answered ${code}: ${meaning[1]}`, { cause: error })
  const known = code === undefined ? '' : ` (${code})`
  return new StoreError('unavailable', `The database can’t be reached, or did not execute the statement${known}.`, {
    cause: error,
  })
}

function propertyOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
