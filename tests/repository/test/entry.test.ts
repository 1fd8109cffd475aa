/** Where programs begin: what `tools/build/entry.mjs` makes of a program's first file. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from '@jest/globals'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'owner-sso-entry-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

mkdirSync(join(folder, 'dist'))
const write = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content)
  return join(folder, name)
}
const manifest = { name: 'sample', type: 'module', engines: { node: '^20.19 || ^22.12 || >=24' } }
write('package.json', JSON.stringify(manifest))
const waits = "console.log('ready'); process.stdin.resume().on('end', () => setTimeout(() => process.exit(), 100))"
for (const name of ['module.js', 'common.cjs']) write(`dist/${name}`, `#!/usr/bin/env node\n${waits}\n`)
const entry = join(root, 'tools/build/entry.mjs')
spawnSync(process.execPath, [entry, 'module.js', 'common.cjs'], { cwd: folder })

it.each(['packages', 'examples'])('all programs in %s begin with tools/build/entry', (group) => {
  const forgotten = readdirSync(join(root, group)).filter((name) => {
    const { bin, main, scripts } = JSON.parse(readFileSync(join(root, group, name, 'package.json'), 'utf8'))
    const programs: string[] = group === 'examples' ? [main] : Object.values(bin ?? {})
    return !programs.every((path) => scripts.build.match(/entry\.mjs (.*)/u)?.[1].includes(path.replace('./dist/', '')))
  })
  expect(forgotten).toEqual([])
})

it.each([
  ...['12.22.12', '18.20.8', '19.9.0', '20.18.3', '21.7.3', '22.11.0', '23.11.1'].map((old) => [old, false] as const),
  ...['20.19.0', '22.12.0', '24.0.0', '26.1.0'].map((good) => [good, true] as const),
])('says for Node %s whether it is new enough: %s', (version, isEnough) => {
  const other = write(
    'other-node.cjs',
    `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })
     Object.defineProperty(process, 'version', { value: 'v${version}' })`,
  )
  for (const name of ['module.js', 'common.cjs']) {
    const args = ['--require', other, join(folder, 'dist', name)]
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', input: '' })
    const refusal = `sample needs Node 20.19+, 22.12+ or 24+; this is v${version}.\n`
    const expected = isEnough
      ? { status: 0, stdout: 'ready\n', stderr: '' }
      : { status: 2, stdout: '', stderr: refusal }
    expect({ status, stdout, stderr }).toEqual(expected)
  }
})

/** What ends soon after its input has; a debugger of it would have a port of its own. */
function start(name: string, ...args: string[]) {
  const child = spawn(process.execPath, ['--inspect-port=0', ...args, join(folder, 'dist', name)])
  let errors = ''
  child.stderr.on('data', (chunk) => (errors += chunk))
  const debuggerUrl = async (): Promise<string> => {
    while (!errors.includes('For help')) await once(child.stderr, 'data')
    return (/(?<=ws)\S+/u.exec(errors) ?? []).join('')
  }
  const end = async () => {
    child.stdin.end()
    await once(child, 'close')
    return { code: child.exitCode, errors }
  }
  return { child, isReady: once(child.stdout, 'data'), debuggerUrl, end }
}

it.each(['module.js', 'common.cjs'])('SIGUSR1 opens no debugger: %s', async (name) => {
  const { child, isReady, end } = start(name)
  await isReady
  child.kill('SIGUSR1')
  expect(await end()).toEqual({ code: 0, errors: '' })
})

it.each(['module.js', 'common.cjs'])('what SIGUSR1 opened while Node began is shut: %s', async (name) => {
  const early = write(
    'early-signal.cjs',
    `process.kill(process.pid, 'SIGUSR1')
     while (!require('node:inspector').url()) require('node:fs').statSync(__filename)`,
  )
  const { isReady, debuggerUrl, end } = start(name, '--require', early)
  await isReady
  await expect(fetch(`http${await debuggerUrl()}`)).rejects.toThrow('fetch failed')
  expect((await end()).code).toBe(0)
})

it('a debugger that was asked for stays', async () => {
  const { isReady, debuggerUrl, end } = start('common.cjs', '--inspect=0')
  await isReady
  const { host } = new URL(`http${await debuggerUrl()}`)
  expect((await fetch(`http://${host}/json/version`)).status).toBe(200)
  expect((await end()).code).toBe(0)
})
