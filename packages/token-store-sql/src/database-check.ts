/**
 * `checkDatabase`: whether a database is set up to keep records, before the first one is lost.
 */
import { databaseOf, type Row, type SqlClient, type Statement } from './database.ts'
import { executed } from './sql-failure.ts'

/** One thing about a database that can cost a token set. */
export interface DatabaseProblem {
  readonly about: 'replica' | 'durability'
  /** What is wrong and what to do. */
  readonly message: string
}

/**
 * Looks at the settings of the client's connection; ask at start-up, and print what comes back.
 *
 * @throws TypeError for something that is not a client; StoreError where the database can't be reached
 */
export async function checkDatabase(client: SqlClient): Promise<DatabaseProblem[]> {
  const database = databaseOf(client)
  const ask = async (text: string): Promise<Row> => {
    const statement: Statement = { text, names: [], writes: false }
    return (await executed(() => database.run(statement)))[0] ?? {}
  }
  return database.dialect === 'sqlite' ? sqliteProblems(ask) : postgresProblems(ask)
}

type Ask = (text: string) => Promise<Row>

async function postgresProblems(ask: Ask): Promise<DatabaseProblem[]> {
  const settings = await ask(`SELECT pg_is_in_recovery()::int AS replica, current_setting('fsync') AS fsync,
current_setting('synchronous_commit') AS synchronous_commit, current_setting('full_page_writes') AS full_page_writes`)
  const problems: DatabaseProblem[] = []
  if (Number(settings['replica']) === 1) {
    problems.push({ about: 'replica', message: 'This server is a read replica: give the store the primary’s address.' })
  }
  for (const name of ['fsync', 'synchronous_commit', 'full_page_writes']) {
    if (String(settings[name]) !== 'off') continue
    const message = `${name} is off: a crash of the server loses the newest token sets. Set ${name} = on.`
    problems.push({ about: 'durability', message })
  }
  return problems
}

async function sqliteProblems(ask: Ask): Promise<DatabaseProblem[]> {
  const { synchronous } = await ask('PRAGMA synchronous')
  const { journal_mode: journal } = await ask('PRAGMA journal_mode')
  const problems: DatabaseProblem[] = []
  if (Number(synchronous) < 2) {
    const message = 'PRAGMA synchronous is less than FULL: a power loss loses the newest token sets. Set it to FULL.'
    problems.push({ about: 'durability', message })
  }
  if (journal === 'off' || journal === 'memory') {
    const message = `PRAGMA journal_mode is ${journal}: a process that dies while it writes damages the file. Set it to WAL.`
    problems.push({ about: 'durability', message })
  }
  return problems
}
