/** Whatever becomes of PostgreSQL, every call ends, and no write is lost or doubled. */
import { execFileSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { chownSync } from 'node:fs'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import type { Pool, PoolConfig } from 'pg'
import { createTable, type PostgresClient, sqlTokenStore } from '../src/index.ts'
import { startCuttingProxy } from '../../../tests/support/cutting-proxy.ts'
import {
  describeWithPostgres,
  ownFolder,
  type PostgresServer,
  startPostgres,
  unprivileged,
} from '../../../tests/support/postgres-server.ts'
import { account, answerOf, commit, rounds, sample } from '../../../tests/support/store-samples.ts'
import { poolOf } from './databases.ts'

const cleanUps: (() => unknown)[] = []
const atEnd = (cleanUp: () => unknown): void => void cleanUps.push(cleanUp)
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

const pause = (milliseconds = 5): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds))
const failing = (reason: string): unknown => expect.objectContaining({ code: 'ERR_SSO_STORE', reason })

describeWithPostgres('a PostgreSQL server', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres({ withPassword: ['tokens'] })
    await createTable(opened(server.url))
  }, 120_000)
  beforeEach(() => server.query('TRUNCATE owner_sso_tokens'))
  afterAll(() => server?.stop())

  function opened(url = server.url, options: PoolConfig = {}): Pool {
    const pool = poolOf(url, options)
    atEnd(() => pool.end())
    return pool
  }

  /** Two statements within one transaction of somebody else's, which holds the account's row until it ends. */
  async function lockRow(): Promise<() => Promise<void>> {
    const client = await opened().connect()
    await client.query('BEGIN')
    await client.query('SELECT * FROM owner_sso_tokens FOR UPDATE')
    return async () => {
      await client.query('ROLLBACK')
      client.release()
    }
  }

  test('that is killed and comes back has lost nothing', async () => {
    const store = sqlTokenStore({ client: opened() })
    let version = 0
    for (let round = 0; round < rounds(3, 100); round += 1) {
      const restart = { isOver: false }
      const restarted = server
        .kill()
        .then(() => server.start())
        .finally(() => (restart.isOver = true))
      do {
        expect(await commit(store, version, randomUUID())).toBe('saved')
        version += 1
      } while (!restart.isOver)
      await restarted
    }
    expect(await store.read(account)).toMatchObject({ version, record: sample(version) })
  }, 600_000)

  test('that is stopped ends in an error, and is used again once it goes on', async () => {
    const store = sqlTokenStore({ client: opened() })
    await store.swap(account, 0, sample(1), 'one')
    server.freeze()
    const calls = await Promise.all([
      answerOf(() => store.read(account)),
      answerOf(() => store.swap(account, 1, sample(2), 'two')),
    ]).finally(server.thaw)
    expect(calls).toEqual([failing('unavailable'), failing('unavailable')])
    // Whether the frozen server got it or not: the same write again is a success, once.
    expect(await commit(store, 1, 'two')).toBe('saved')
    expect(await store.read(account)).toMatchObject({ version: 2, record: sample(2) })
  }, 60_000)

  test('that is gone gives an error', async () => {
    const store = sqlTokenStore({ client: opened() })
    await store.read(account)
    await server.kill()
    for (const call of [() => store.read(account), () => store.swap(account, 0, sample(1), 'one')]) {
      expect(await answerOf(call)).toEqual(failing('unavailable'))
    }
    await server.start()
  }, 60_000)

  test('whose answer is lost is not asked again by the store, and recognises the same write', async () => {
    const proxy = await startCuttingProxy(server.port)
    atEnd(proxy.close)
    const pool = opened(server.url.replace(String(server.port), String(proxy.port)), { max: 1 })
    let sent = 0
    const counting: PostgresClient = {
      query: (text, values) => {
        sent += text.includes('record =') || text.startsWith('INSERT') ? 1 : 0
        return pool.query(text, values)
      },
    }
    const store = sqlTokenStore({ client: counting })
    const goal = rounds(20, 1000)
    for (let version = 0; version < goal; version += 1) {
      // The connection has to stand for this cut to be the answer's.
      while ((await store.read('nobody').catch(() => null)) === null) await pause()
      proxy.cutNext = true
      const before = sent
      const writeId = randomUUID()
      await expect(store.swap(account, version, sample(version + 1), writeId)).rejects.toEqual(failing('unavailable'))
      expect(sent).toBe(before + 1)
      expect(await commit(store, version, writeId)).toBe('saved')
    }
    expect(proxy.cuts).toBe(goal)
    expect((await store.read(account))?.version).toBe(goal)
  }, 300_000)

  test('that is a read replica is rejected, and used once it is the primary, even if it lacks a write', async () => {
    const onPrimary = sqlTokenStore({ client: opened() })
    await onPrimary.swap(account, 0, sample(1), 'one')
    const replica = await server.replica()
    atEnd(replica.stop)
    const store = sqlTokenStore({ client: opened(replica.url) })
    for (const call of [() => store.read(account), () => store.swap(account, 1, sample(2), 'two')]) {
      const answer = await answerOf(call)
      expect(answer).toEqual(failing('unavailable'))
      expect(String(answer)).toContain('read replica')
    }
    // It is promoted before it hears of the last write.
    await replica.query('SELECT pg_promote(true, 60)')
    await onPrimary.swap(account, 1, sample(2), 'two')
    await server.kill()
    expect(await store.read(account)).toMatchObject({ version: 1, record: sample(1) })
    // Who knows better writes it back over that version.
    expect(await store.swap(account, 1, sample(2), 'written back')).toMatchObject({ version: 2, record: sample(2) })
    await server.start()
  }, 120_000)

  test('that was emptied has no record, and a swap over the lost version is a conflict', async () => {
    const store = sqlTokenStore({ client: opened() })
    await store.swap(account, 0, sample(1), 'one')
    await server.query('TRUNCATE owner_sso_tokens')
    expect(await store.read(account)).toBeUndefined()
    expect(await store.swap(account, 1, sample(2), 'two')).toEqual({ conflict: true })
    expect(await store.swap(account, 0, sample(2), 'two')).toMatchObject({ version: 1 })
  })

  // Only root may mount a disk as small as that.
  const describeAsRoot = process.getuid?.() === 0 ? describe : describe.skip
  describeAsRoot('on a small disk', () => {
    test('whose disk is full takes no write, and the old record is kept', async () => {
      // A table space of one megabyte: as root, or not at all.
      const folder = ownFolder('owner-sso-full-')
      const { uid, gid } = unprivileged()
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', folder])
      atEnd(() => execFileSync('umount', [folder]))
      if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid)
      await server.query(`CREATE TABLESPACE small LOCATION '${folder}'`)
      const pool = opened(server.url, { options: '-c default_tablespace=small' })
      await createTable(pool, { tableName: 'full' })
      const store = sqlTokenStore({ client: pool, tableName: 'full' })
      const filling = (): ReturnType<typeof sample> =>
        Object.assign(sample(1), { filling: randomBytes(8000).toString('hex') })
      const first = filling()
      await store.swap(account, 0, first, 'one')
      let answer: unknown
      for (let index = 0; index < 1000 && !(answer instanceof Error); index += 1) {
        answer = await store.swap(`owner-${index}`, 0, filling(), 'one').catch((error: unknown) => error)
      }
      expect(answer).toEqual(failing('write-failed'))
      expect(String(answer)).toContain('disk is full')
      await expect(store.swap(account, 1, filling(), 'two')).rejects.toEqual(failing('write-failed'))
      expect(await store.read(account)).toMatchObject({ version: 1, record: first })
      await server.query('DROP TABLE "full"')
      await server.query('DROP TABLESPACE small')
    }, 60_000)
  })

  test.each([
    ['lock_timeout=200', 'busy', 'Nothing was written'],
    ['statement_timeout=200', 'busy', 'Nothing was written'],
    ['lock_timeout=0', 'unavailable', 'did not answer in time'],
  ])(
    'where somebody holds the row, with %s: %s',
    async (setting, reason, sentence) => {
      const store = sqlTokenStore({ client: opened(server.url, { options: `-c ${setting}` }) })
      await store.swap(account, 0, sample(1), 'one')
      const release = await lockRow()
      const answer = await answerOf(() => store.swap(account, 1, sample(2), 'two'))
      await release()
      expect(answer).toEqual(failing(reason))
      expect(String(answer)).toContain(sentence)
      expect(await commit(store, 1, 'two')).toBe('saved')
      expect((await store.read(account))?.version).toBe(2)
    },
    30_000,
  )

  test('that rolls a write back because of others is tried again for a while; then the error says that nothing was written', async () => {
    const store = sqlTokenStore({ client: opened() })
    await store.swap(account, 0, sample(1), 'one')
    await server.query('CREATE SEQUENCE attempts')
    const raise = async (condition: string): Promise<void> => {
      await server.query(`CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF ${condition} THEN RAISE EXCEPTION 'sekret' USING ERRCODE = '40001'; END IF; RETURN NEW; END $$`)
    }
    await raise("nextval('attempts') < 4")
    await server.query('CREATE TRIGGER refuse BEFORE UPDATE ON owner_sso_tokens FOR EACH ROW EXECUTE FUNCTION refuse()')
    expect(await store.swap(account, 1, sample(2), 'two')).toMatchObject({ version: 2 })
    expect(await server.query('SELECT last_value FROM attempts')).toEqual([{ last_value: '4' }])
    await raise("nextval('attempts') > 0")
    const answer = await answerOf(() => store.swap(account, 2, sample(3), 'three'))
    expect(answer).toEqual(failing('busy'))
    expect(String(answer)).toContain('Nothing was written')
    expect(inspect(answer, { depth: Infinity })).not.toContain('sekret')
    await server.query('DROP TRIGGER refuse ON owner_sso_tokens')
  }, 30_000)

  test.each([
    ['40P01', 'busy'],
    ['55P03', 'busy'],
    ['25006', 'unavailable'],
    ['42501', 'permissions'],
    ['53100', 'write-failed'],
    ['53200', 'write-failed'],
    ['58030', 'write-failed'],
    ['57P01', 'unavailable'],
    ['XX001', 'corrupt'],
    ['XX000', 'unavailable'],
    ['P0001', 'unavailable'],
  ])('that answers %s: %s', async (state, reason) => {
    const store = sqlTokenStore({ client: opened() })
    await server.query(`CREATE OR REPLACE FUNCTION answer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      RAISE EXCEPTION 'sekret' USING ERRCODE = '${state}'; END $$`)
    await server.query(
      'CREATE OR REPLACE TRIGGER answer BEFORE INSERT ON owner_sso_tokens FOR EACH ROW EXECUTE FUNCTION answer()',
    )
    atEnd(() => server.query('DROP TRIGGER answer ON owner_sso_tokens'))
    const answer = await answerOf(() => store.swap(account, 0, sample(1), 'one'))
    expect(answer).toEqual(failing(reason))
    expect(String(answer)).toContain(state)
    expect(inspect(answer, { depth: Infinity, showHidden: true })).not.toContain('sekret')
  })

  test('says what is missing: the table, the database, the permission, the password, a free connection', async () => {
    await server.query("CREATE ROLE tokens LOGIN PASSWORD 'hush' CONNECTION LIMIT 1")
    await server.query('GRANT SELECT ON owner_sso_tokens TO tokens')
    const asTokens = (password: string): string => server.url.replace('postgres@', `tokens:${password}@`)
    const permitted = opened(asTokens('hush'), { max: 1 })
    const elsewhere = (url: string, tableName?: string): ReturnType<typeof sqlTokenStore> =>
      sqlTokenStore({ client: opened(url, { max: 1 }), tableName })
    const held = await permitted.connect()
    const answers = [
      await answerOf(() => elsewhere(server.url, 'missing').read(account)),
      await answerOf(() => elsewhere(server.url, 'pg_catalog.pg_class').read(account)),
      await answerOf(() => elsewhere(server.url.replace(/\w+$/u, 'missing')).read(account)),
      await answerOf(() => createTable(opened(), { tableName: 'missing.tokens' })),
      await answerOf(() => sqlTokenStore({ client: held }).swap(account, 0, sample(1), 'one')),
      await answerOf(() => elsewhere(asTokens('hush')).read(account)),
      await answerOf(() => elsewhere(asTokens('wrong')).read(account)),
    ]
    held.release()
    expect(answers).toEqual([
      failing('unavailable'),
      failing('unavailable'),
      failing('unavailable'),
      failing('unavailable'),
      failing('permissions'),
      failing('unavailable'),
      failing('permissions'),
    ])
    const said = answers.join('\n')
    for (const word of [
      'createTable',
      'no database',
      'no schema',
      'grant SELECT',
      'too many connections',
      'password',
    ]) {
      expect(said).toContain(word)
    }
    expect(inspect(answers, { depth: Infinity, showHidden: true })).not.toMatch(/hush|wrong/u)
  })
})
