import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { scratchFolders } from './scratch-folder.ts'

const folders = scratchFolders()

test('the quick start of the README runs as it stands', async () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [, code = ''] = /<!-- runs -->\s+```js\n([\s\S]*?)```/u.exec(readme) ?? []
  const scratch = dirname(folders.make())
  const child = spawn(
    process.execPath,
    ['--input-type=module', '-e', code.replace('./tokens', join(scratch, 'tokens'))],
    {
      cwd: fileURLToPath(new URL('..', import.meta.url)),
      env: {
        PATH: process.env['PATH'],
        OWNER_SSO_AUTH_URL: 'http://127.0.0.1:1',
        OWNER_SSO_ENCRYPTION_KEY: Buffer.alloc(32, 'key').toString('base64'),
      },
    },
  )
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)))
  await once(child, 'close')
  expect(printed).toContain("state: 'signed-out'")
  expect(statSync(join(scratch, 'tokens')).mode & 0o777).toBe(0o700)
})
