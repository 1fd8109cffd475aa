/** A file system without hard links, as FAT and exFAT are: nothing is exclusive there, and it is refused. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { createInterface } from 'node:readline/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { createStore } from '../src/file-token-store.ts'
import { fileTokenStore } from '../src/index.ts'
import { withoutHardLinks } from './faulty-disk.ts'
import { account, filesBelow, grow, sample } from './samples.ts'
import { scratchFolders } from './scratch-folder.ts'

const folders = scratchFolders()
const refusal = { code: 'ERR_SSO_STORE', reason: 'permissions', message: expect.stringContaining('no hard links') }

test('D4: is rejected when an empty store is opened: otherwise a sign-in would be made and then lost', async () => {
  const path = folders.make()
  const store = createStore(withoutHardLinks(), { path })
  await expect(store.read(account)).rejects.toMatchObject(refusal)
  await expect(store.swap(account, 0, sample(1), 'one')).rejects.toMatchObject(refusal)
  expect(existsSync(path) ? filesBelow(path) : []).toEqual([])
})

test.each([
  ...['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV'].map((code) => [code, 'no hard links']),
  ['EACCES', 'EACCES'],
])('a link that fails with %s ends in the words %j, when a store is opened and in a save', async (code, words) => {
  const path = folders.make()
  const disk = withoutHardLinks(code)
  const told = { code: 'ERR_SSO_STORE', message: expect.stringContaining(words) }
  await expect(createStore(disk, { path }).read(account)).rejects.toMatchObject(told)
  await grow(fileTokenStore({ path }), 1)
  await expect(createStore(disk, { path }).swap(account, 1, sample(2), 'two')).rejects.toMatchObject(told)
})

test('is rejected by the next save where records were moved there; they can be read and copied', async () => {
  const path = folders.make()
  await grow(fileTokenStore({ path }), 3)
  const store = createStore(withoutHardLinks(), { path })
  expect(await store.read(account)).toMatchObject({ version: 3, record: sample(3) })
  await expect(store.swap(account, 3, sample(4), 'four')).rejects.toMatchObject(refusal)
  expect(await store.read(account)).toMatchObject({ version: 3, record: sample(3) })
})

test('leaves no trace of its test for hard links where there are some', async () => {
  const path = folders.make()
  mkdirSync(path, { mode: 0o700 })
  const stores = [fileTokenStore({ path }), fileTokenStore({ path }), fileTokenStore({ path })]
  expect(await Promise.all(stores.map((store) => store.read(account)))).toEqual([undefined, undefined, undefined])
  expect(filesBelow(path)).toEqual([])
})

const container = ['--pid', '--fork', '--kill-child', '--mount-proc']
const namespacesWork = spawnSync('unshare', [...container, 'true'], { stdio: 'ignore' }).status === 0
if (!namespacesWork) console.warn('Skipped: two containers need PID namespaces, which are Linux’s, and root.')
const inContainers = namespacesWork || process.env['CI'] === 'true' ? describe : describe.skip

inContainers('two containers that share such a folder', () => {
  test('never tells two writers that both saved the same version', async () => {
    const path = folders.make()
    const first = saver(path, 'first', 'pause')
    const paused = await first.line()
    const second = await saver(path, 'second').line()
    first.proceed()
    const end = paused === 'paused' ? await first.line() : paused
    expect([end, second]).toEqual([expect.stringContaining('no hard links'), expect.stringContaining('no hard links')])
  })
})

/** A process in a PID namespace of its own that saves once; `line` is the next that it prints. */
function saver(path: string, writeId: string, ...pause: string[]) {
  const script = fileURLToPath(new URL('linkless-process.mjs', import.meta.url))
  const child = spawn('unshare', [...container, process.execPath, script, path, account, writeId, ...pause], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  return { line: async () => String((await lines.next()).value), proceed: () => void child.stdin.end('go\n') }
}
