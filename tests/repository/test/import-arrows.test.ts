import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'

const script = fileURLToPath(new URL('../../../tools/lint/import-arrows.mjs', import.meta.url))
let tree: string

beforeEach(async () => {
  tree = await mkdtemp(join(tmpdir(), 'arrows-'))
})
afterEach(() => rm(tree, { recursive: true }))

describe('the import arrows', () => {
  it('pass where every arrow points down and is declared', async () => {
    await write('packages/core/package.json', '{"name":"@owner-sso/core"}')
    await write('packages/core/src/index.ts', "export * from './login.ts'")
    await write('packages/passport/package.json', '{"dependencies":{"@owner-sso/core":"1"}}')
    await write('packages/passport/src/index.ts', "import { createSso } from '@owner-sso/core'")
    expect(await lint()).toEqual({ code: 0, problems: '' })
  })

  it.each([
    ['the token manager imports the flow', 'packages/token-manager', "import '@owner-sso/core'"],
    ['core imports an adapter', 'packages/core', "import '@owner-sso/passport'"],
    ['the emulator imports core', 'packages/emulator', "import { createSso } from '@owner-sso/core'"],
    ['what ships imports the emulator', 'packages/passport', "await import('@owner-sso/emulator')"],
    ['a store requires another store', 'packages/token-store-file', "require('@owner-sso/token-store-memory')"],
    ['a relative import leaves its package', 'packages/core', "export { x } from '../../passport/src/index.ts'"],
    ['an import of ours is not declared', 'examples/portal', "import '@owner-sso/core'"],
    ['a package is not in the table', 'packages/surprise', ''],
    ['what is published imports what is private by its name', 'packages/broker', "import '@owner-sso/sign-in-pages'"],
    ['what is carried is not declared', 'packages/broker', "import '#sign-in-pages'"],
  ])('fail where %s', async (_name, folder, source) => {
    await write(`${folder}/package.json`, '{"private":true}')
    await write(`${folder}/src/index.ts`, source)
    const { code, problems } = await lint()
    expect(code).toBe(1)
    expect(problems).toContain(folder)
  })

  it('pass where the folders of a package keep to its table', async () => {
    await write('packages/core/package.json', '{"name":"@owner-sso/core"}')
    await write('packages/core/src/login/login.ts', "import type { LoginPage } from '../steps/login-page.ts'")
    await write('packages/core/src/steps/login-page.ts', "import { HtmlPage } from '../pages/html-page.ts'")
    await write('packages/core/src/index.ts', "export * from './login/login.ts'")
    expect(await lint()).toEqual({ code: 0, problems: '' })
  })

  it.each([
    ['the firewall knows the pages', 'firewall/challenge-page.ts', "import { HtmlPage } from '../pages/html-page.ts'"],
    ['a page knows the steps', 'pages/login-form.ts', "import type { Step } from '../steps/login-page.ts'"],
    ['a page knows HTTP', 'pages/login-form.ts', "import type { Response } from '../http/http-session.ts'"],
    ['a file that all import knows one side', 'errors.ts', "import './login/sso.ts'"],
    ['a folder is not in the table', 'surprise/box.ts', ''],
  ])('fail where %s', async (_name, file, source) => {
    await write('packages/core/package.json', '{"name":"@owner-sso/core"}')
    await write(`packages/core/src/${file}`, source)
    const { code, problems } = await lint()
    expect(code).toBe(1)
    expect(problems).toContain(`packages/core/src/${file}`)
  })

  it('fail where a room is not entered by its entry', async () => {
    await write('packages/broker/package.json', '{"name":"@owner-sso/broker"}')
    await write('packages/broker/src/alerts/index.ts', "export * from './mqtt.ts'")
    await write('packages/broker/src/alerts/mqtt.ts', '')
    await write('packages/broker/src/index.ts', "export * from './alerts/index.ts'")
    expect(await lint()).toEqual({ code: 0, problems: '' })
    await write('packages/broker/src/index.ts', "export * from './alerts/mqtt.ts'")
    const { code, problems } = await lint()
    expect([code, problems]).toEqual([
      1,
      expect.stringContaining('alerts is entered by packages/broker/src/alerts/index.ts'),
    ])
  })

  it('fail where files import each other in a circle, types included', async () => {
    await write('packages/core/package.json', '{"name":"@owner-sso/core"}')
    await write('packages/core/src/login/one.ts', "import { two } from './two.ts'")
    await write('packages/core/src/login/two.ts', "import { three } from '../steps/three.ts'")
    await write('packages/core/src/steps/three.ts', "import type { One } from '../login/one.ts'")
    const { code, problems } = await lint()
    expect(code).toBe(1)
    for (const file of ['login/one.ts', 'login/two.ts', 'steps/three.ts']) {
      expect(problems).toContain(`packages/core/src/${file}`)
    }
  })
})

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(tree, path)), { recursive: true })
  await writeFile(join(tree, path), text)
}

function lint(): Promise<{ code: number; problems: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [script, tree], (error, _stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, problems: stderr }),
    )
  })
}
