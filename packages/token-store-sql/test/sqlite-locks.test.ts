/** Two connections to one SQLite file, of which one holds the other up: what was refused leaves nothing behind. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { TokenStore } from '@owner-sso/token-manager'
import { account, sample } from '../../../tests/support/store-samples.ts'
import { createTable, sqlTokenStore } from '../src/index.ts'
import { type OpenSqlite, openSqlite, sqliteFile, sqliteLibraries } from './databases.ts'

const rows = Object.keys(sqliteLibraries).flatMap((library) =>
  ['WAL', 'DELETE'].map((journal) => [library, journal] as const),
)

async function namesIn(store: TokenStore): Promise<string[]> {
  const names: string[] = []
  for await (const name of store.accounts?.() ?? []) names.push(name)
  return names
}

describe.each(rows)('after %s was held up, journal_mode %s', (library, journal) => {
  let file: ReturnType<typeof sqliteFile>
  let client: OpenSqlite
  let other: OpenSqlite
  let store: TokenStore
  let others: TokenStore

  beforeEach(async () => {
    file = sqliteFile()
    const open = (): OpenSqlite => {
      const database = openSqlite(library, file.path)
      database.exec(`PRAGMA journal_mode = ${journal}`)
      database.exec('PRAGMA busy_timeout = 0')
      return database
    }
    client = open()
    await createTable(client)
    other = open()
    store = sqlTokenStore({ client })
    others = sqlTokenStore({ client: other })
    await store.swap(account, 0, sample(1), 'one')
  })
  afterEach(() => {
    client.close()
    other.close()
    file.remove()
  })

  test('by a writer, it reads what others write from then on', async () => {
    other.exec('BEGIN IMMEDIATE')
    await expect(store.swap(account, 1, sample(2), 'two')).rejects.toMatchObject({ reason: 'busy' })
    other.exec('COMMIT')
    for (const version of [1, 2, 3]) {
      expect(await store.read(account)).toMatchObject({ version })
      await others.swap(account, version, sample(version + 1), `other ${version}`)
    }
  })

  test('by a writer, its later writes are visible to others, and it holds no lock', async () => {
    other.exec('BEGIN IMMEDIATE')
    await expect(store.swap('new', 0, sample(1), 'two')).rejects.toMatchObject({ reason: 'busy' })
    other.exec('COMMIT')
    expect(await store.swap(account, 1, sample(2), 'three')).toMatchObject({ version: 2 })
    expect(await others.read(account)).toMatchObject({ version: 2 })
    expect(await others.swap(account, 2, sample(3), 'four')).toMatchObject({ version: 3 })
  })

  test('while it read, it holds no lock', async () => {
    other.exec('BEGIN EXCLUSIVE')
    // With a WAL, who reads waits for nobody.
    const busy = journal === 'WAL' ? [false, false] : ['busy', 'busy']
    const ended = await Promise.allSettled([store.read(account), namesIn(store)])
    expect(ended.map((each) => each.status === 'rejected' && each.reason.reason)).toEqual(busy)
    other.exec('COMMIT')
    expect(await others.read(account)).toMatchObject({ version: 1 })
    expect(await store.swap(account, 1, sample(2), 'two')).toMatchObject({ version: 2 })
    expect(await others.swap(account, 2, sample(3), 'three')).toMatchObject({ version: 3 })
    expect(await store.read(account)).toMatchObject({ version: 3 })
  })

  test('at its commit by a reader, it has written nothing, and holds no lock', async () => {
    other.exec('BEGIN')
    expect(other.prepare('SELECT version FROM owner_sso_tokens').all({})).toEqual([{ version: 1 }])
    // With a WAL, who writes waits for no reader.
    const [swapped] = await Promise.allSettled([store.swap(account, 1, sample(2), 'two')])
    expect(swapped).toMatchObject(journal === 'WAL' ? { value: { version: 2 } } : { reason: { reason: 'busy' } })
    other.exec('COMMIT')
    const version = journal === 'WAL' ? 2 : 1
    expect(await others.read(account)).toMatchObject({ version })
    expect(await others.swap(account, version, sample(3), 'three')).toMatchObject({ version: version + 1 })
  })

  test('within a transaction of the application, its calls fail, and the transaction goes on', async () => {
    client.exec('BEGIN')
    for (const call of [store.read(account), store.swap(account, 1, sample(2), 'two')]) {
      await expect(call).rejects.toMatchObject({
        reason: 'unavailable',
        message: expect.stringContaining('transaction'),
      })
    }
    client.exec('CREATE TABLE mine (id integer)')
    client.exec('COMMIT')
    expect(other.prepare('SELECT count(*) AS count FROM mine').all({})).toEqual([{ count: 0 }])
    expect(await store.read(account)).toMatchObject({ version: 1 })
  })
})
