/**
 * The stores, from outside: each can be made, be gone, be full, and go back in time. A candidate gets only `settings`.
 *
 * Gone: the folder of files is away, SQLite is locked by another program, nobody can connect to Redis or PostgreSQL. Full: no process may
 * write a byte (`prlimit`), Redis has its `maxmemory`, and PostgreSQL refuses each write by a constraint.
 */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { startPostgres } from '../postgres-server.mjs'
import { startRedis } from '../redis-server.mjs'

/** One PostgreSQL for all cells, each with a database of its own. */
let postgres
let databases = 0
export const stopSharedServers = async () => (await postgres)?.stop()

/** A process that may write no byte more. The name of a file is none. */
const limitWrites = (pids, limit) =>
  pids.forEach((pid) => execFileSync('prlimit', ['--pid', String(pid), `--fsize=${limit}:unlimited`]))
const byLimit = { fill: (pids) => limitWrites(pids, 0), makeRoom: (pids) => limitWrites(pids, 'unlimited') }

/** By kind: `settings`, and what may happen to it: `vanish`, `comeBack`, `fill(pids)`, `makeRoom(pids)`, `remember`, `goBack`. */
export const stores = {
  file(folder) {
    const [path, away, copy] = ['store', 'away', 'copy'].map((name) => join(folder, name))
    mkdirSync(path, { mode: 0o700 })
    return {
      settings: { path },
      vanish() {
        renameSync(path, away)
        writeFileSync(path, '')
      },
      comeBack() {
        rmSync(path)
        renameSync(away, path)
      },
      ...byLimit,
      remember: () => cpSync(path, copy, { recursive: true, preserveTimestamps: true }),
      goBack() {
        renameSync(path, away)
        renameSync(copy, path)
      },
      close() {},
    }
  },

  async sqlite(folder) {
    const { default: Database } = await import('libsql')
    const path = join(folder, 'tokens.db')
    const client = new Database(path)
    client.exec('PRAGMA journal_mode = WAL; PRAGMA busy_timeout = 2000')
    return {
      settings: { path },
      vanish: () => client.exec('BEGIN IMMEDIATE'),
      comeBack: () => client.exec('COMMIT'),
      ...byLimit,
      remember: () => client.exec('CREATE TABLE remembered AS SELECT * FROM owner_sso_tokens'),
      goBack: () => client.exec('REPLACE INTO owner_sso_tokens SELECT * FROM remembered'),
      close: () => client.close(),
    }
  },

  async redis(folder) {
    const server = await startRedis(folder)
    if (server === undefined) throw new Error('redis-server is not here')
    const { createClient } = await import('redis')
    const client = createClient({ url: server.url }).on('error', () => {})
    await client.connect()
    const line = await openLine(server.url)
    const set = (limit) => () => client.configSet('maxmemory', limit)
    let remembered = []
    return {
      settings: { url: line.url },
      vanish: () => line.cut(),
      comeBack: () => line.mend(),
      fill: set('1'),
      makeRoom: set('0'),
      async remember() {
        for (const key of await client.keys('*')) remembered.push([key, await client.get(key)])
      },
      /** As a failover does: the connections end too. */
      async goBack() {
        line.cut()
        await client.flushAll()
        for (const [key, value] of remembered) await client.set(key, value)
        line.mend()
      },
      close() {
        line.cut()
        client.destroy()
        server.stop()
      },
    }
  },

  async postgres(folder) {
    postgres ??= startPostgres(join(folder, '..'), 400)
    const server = await postgres
    if (server === undefined) throw new Error('PostgreSQL is not here')
    const { Client } = (await import('pg')).default
    databases += 1
    const name = `cell_${databases}`
    const maker = new Client(server.url)
    await maker.connect()
    await maker.query(`CREATE DATABASE ${name}`)
    await maker.end()
    const client = new Client(server.url.replace(/postgres$/u, name)).on('error', () => {})
    await client.connect()
    const line = await openLine(server.url)
    const tableOf = async () => {
      const { rows } = await client.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'public' LIMIT 1`)
      return rows[0].tablename
    }
    return {
      settings: { url: line.url.replace(/postgres$/u, name) },
      vanish: () => line.cut(),
      comeBack: () => line.mend(),
      fill: async () => client.query(`ALTER TABLE ${await tableOf()} ADD CONSTRAINT disk_full CHECK (false) NOT VALID`),
      makeRoom: async () => client.query(`ALTER TABLE ${await tableOf()} DROP CONSTRAINT disk_full`),
      remember: async () =>
        client.query(`CREATE SCHEMA before; CREATE TABLE before.rows AS SELECT * FROM ${await tableOf()}`),
      async goBack() {
        const table = await tableOf()
        line.cut()
        await client.query(`BEGIN; DELETE FROM ${table}; INSERT INTO ${table} SELECT * FROM before.rows; COMMIT`)
        line.mend()
      },
      async close() {
        line.cut()
        await client.end()
      },
    }
  },
}

/** The way to a server, which can be cut: connections end, and new ones are refused at once. */
async function openLine(url) {
  const { hostname, port } = new URL(url)
  const ends = new Set()
  let isCut = false
  const relay = createServer((near) => {
    if (isCut) return near.destroy()
    const far = connect(Number(port), hostname)
    for (const end of [near, far]) ends.add(end.setNoDelay(true))
    pipeline(near, far, near, () => {
      for (const end of [near, far]) ends.delete(end.destroy())
    })
  }).listen(0, '127.0.0.1')
  await once(relay, 'listening')
  relay.unref()
  return {
    url: url.replace(`:${port}`, `:${relay.address().port}`),
    cut() {
      isCut = true
      for (const end of ends) end.destroy()
    },
    mend: () => (isCut = false),
  }
}
