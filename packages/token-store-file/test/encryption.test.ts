/** S28, S29, S31: what the option `encryptionKey` makes of the files. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect, test } from '@jest/globals'
import { fileTokenStore } from '../src/index.ts'
import { account, filesBelow, grow, sample } from './samples.ts'
import { scratchFolders } from './scratch-folder.ts'

const folders = scratchFolders()
const [key, otherKey] = [randomBytes(32), randomBytes(32)]

test('no token is readable in any file', async () => {
  const path = folders.make()
  await grow(fileTokenStore({ path, encryptionKey: key }), 3)
  for (const name of filesBelow(path)) expect(readFileSync(join(path, name), 'utf8')).not.toMatch(/3;3;|filling/)
})

test('another key is an error and overwrites nothing; with the old key behind the new one all is readable', async () => {
  const path = folders.make()
  await grow(fileTokenStore({ path, encryptionKey: key }), 2)
  const other = fileTokenStore({ path, encryptionKey: otherKey })
  await expect(other.read(account)).rejects.toMatchObject({ reason: 'wrong-key' })
  expect(await other.swap(account, 0, sample(1), 'anew')).toEqual({ conflict: true })

  const both = fileTokenStore({ path, encryptionKey: [otherKey, key] })
  expect(await both.read(account)).toMatchObject({ version: 2, record: sample(2) })
  await grow(both, 1)
  expect(await other.read(account)).toMatchObject({ version: 3, record: sample(3) })
})

test('a plain store is not taken for a sealed one', async () => {
  const path = folders.make()
  await grow(fileTokenStore({ path }), 1)
  await expect(fileTokenStore({ path, encryptionKey: key }).read(account)).rejects.toMatchObject({ reason: 'corrupt' })
})

test('a key of another length is rejected, and no key is ever shown', () => {
  for (const encryptionKey of [randomBytes(16), [], [key, randomBytes(31)], 'secret' as never]) {
    expect(() => fileTokenStore({ path: folders.make(), encryptionKey })).toThrow(/encryptionKey must be 32/)
  }
  const shown = inspect(fileTokenStore({ path: folders.make(), encryptionKey: key }), { depth: 9, showHidden: true })
  expect(shown).not.toContain(key.toString('hex').slice(0, 8))
})

test('without a key the process warns once', async () => {
  const { spawn } = await import('node:child_process')
  const script = `import { fileTokenStore } from '@owner-sso/token-store-file'
    process.on('warning', ({ code }) => console.log(code))
    for (const path of ['a', 'b']) fileTokenStore({ path })
    fileTokenStore({ path: 'c', encryptionKey: new Uint8Array(32) })`
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '--eval', script], {
    cwd: join(import.meta.dirname, '..'),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  await once(child, 'close')
  expect(output).toBe('OWNER_SSO_UNSEALED\n')
})
