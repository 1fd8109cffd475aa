import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from '@jest/globals'
import { sqlTokenStore } from '../src/index.ts'
import { describeWithPostgres, startPostgres } from '../../../tests/support/postgres-server.ts'
import { account, sample } from '../../../tests/support/store-samples.ts'
import { listenerOf, poolOf, sqliteFile, sqliteLibraries } from './databases.ts'

const folder = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(join(folder, 'README.md'), 'utf8')
const [postgresql = '', sqlite = ''] = [...readme.matchAll(/<!-- runs -->\s+```js\n([\s\S]*?)```/gu)].map(
  ([, code]) => code,
)
const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

/** What a program prints. */
async function printedBy(code: string, cwd: string, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', code], {
    cwd,
    env: { PATH: process.env['PATH'], ...env },
    timeout: 60_000,
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)))
  await once(child, 'close')
  return printed
}

describeWithPostgres('the README', () => {
  test('has a quick start that runs as it stands', async () => {
    const server = await startPostgres()
    cleanUps.push(server.stop)
    const printed = await printedBy(postgresql, folder, {
      OWNER_SSO_AUTH_URL: 'http://127.0.0.1:1',
      DATABASE_URL: server.url,
    })
    expect(printed).toContain("state: 'signed-out'")
    expect(printed).toContain('fsync is off')

    // Names the permissions that are enough, for everything that a store does.
    const grants = readme.match(/^ {4}GRANT .*;$/gmu) ?? []
    expect(grants).toHaveLength(2)
    await server.query('CREATE ROLE tokens LOGIN')
    await server.query('REVOKE ALL ON SCHEMA public FROM public')
    for (const grant of grants) await server.query(grant)
    const url = server.url.replace('postgres@', 'tokens@')
    const client = poolOf(url)
    cleanUps.push(() => client.end())
    const subscriber = await listenerOf(url)
    cleanUps.push(() => subscriber.end())
    const store = sqlTokenStore({ client, subscriber })
    const changed = new Promise<void>((resolve) => store.watch?.(account, resolve))
    for (let version = 0, told = false; !told; version += 1) {
      await store.swap(account, version, sample(version + 1), `write ${version}`)
      const soon = new Promise<false>((resolve) => setTimeout(() => resolve(false), 20))
      told = await Promise.race([changed.then(() => true), soon])
    }
    const names: string[] = []
    for await (const name of store.accounts?.() ?? []) names.push(name)
    expect(names).toEqual([account])
  }, 120_000)
})

test.each(Object.keys(sqliteLibraries))(
  'the README has a quick start with SQLite that runs with %s',
  async (library) => {
    const { path, remove } = sqliteFile()
    cleanUps.push(remove)
    const modules = join(dirname(path), 'node_modules')
    mkdirSync(join(modules, '@owner-sso'), { recursive: true })
    symlinkSync(folder, join(modules, '@owner-sso/token-store-sql'))
    symlinkSync(join(folder, 'node_modules/libsql'), join(modules, 'libsql'))
    const inNode = "{ DatabaseSync } = await import('node:sqlite')"
    expect(sqlite).toContain(inNode)
    const code =
      library === 'libsql' ? sqlite.replace(inNode, "{ default: DatabaseSync } = await import('libsql')") : sqlite
    expect(await printedBy(code, dirname(path))).toBe('undefined\n')
  },
)
