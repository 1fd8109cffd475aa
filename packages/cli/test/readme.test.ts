import { spawn } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { startEmulator } from '@owner-sso/emulator'
import { expect, it } from '@jest/globals'
import { shellWord } from '../../../tests/support/shell-word.ts'
import { afterHelp } from '../src/command-line/help-text.ts'
import { command, credential, ended, newMachine } from './machine.ts'

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')

it('--help names every variable and every setting of the config file that the README has', () => {
  const rows = [...readme.matchAll(/^\| (?:`--[^|]*| *)\| ([^|]*)\| ([^|]*)\|/gmu)]
  const names = rows.flatMap(([, variable = '', setting = '']) =>
    [...`${variable} ${setting}`.matchAll(/`([A-Z_]{5,}|[a-z]+[A-Za-z]*)`/gu)].map(([, name = '']) => name),
  )
  expect(names.length).toBeGreaterThan(20)
  expect(names.filter((name) => !new RegExp(`\\b${name}\\b`, 'u').test(afterHelp))).toEqual([])
})

it('the quick start of the README runs as it stands', async () => {
  const quickStart = /<!-- runs -->\s+```sh\n([\s\S]*?)```/u.exec(readme)?.[1] ?? ''
  await using emulator = await startEmulator()
  const machine = newMachine(emulator)
  const program = (name: string, script: string): void => chmodSync(machine.file(name, script), 0o700)
  program('owner-sso', `#!/bin/sh\nexec ${shellWord(process.execPath)} ${shellWord(command)} "$@"\n`)
  // As much of curl as it needs: not every machine has one.
  program('curl', `#!/bin/sh\nexec ${shellWord(process.execPath)} "$HOME/curl.mjs" "$@"\n`)
  machine.file(
    'curl.mjs',
    `const [, header, url] = process.argv.slice(2)
     const [name, value] = header.split(': ')
     console.log(await (await fetch(url, { headers: { [name]: value } })).text())`,
  )
  const lines = quickStart
    .replace('https://auth.example.com', emulator.authUrl)
    .replace('https://owner-api.example.com', emulator.ownerApiUrl)
  const child = spawn('sh', ['-ec', lines], {
    cwd: machine.home,
    env: {
      PATH: `${machine.home}:${process.env['PATH']}`,
      HOME: machine.home,
      OWNER_SSO_ACCOUNT: 'plain@example.com',
      OWNER_SSO_CREDENTIAL: credential,
      OWNER_SSO_KEYRING: 'off',
    },
  })
  const { code, stdout, stderr } = await ended(child)
  machine.remove()
  expect({ code, stderr: stderr.replace(/7 h 5\d min/u, '') }).toEqual({
    code: 0,
    stderr: 'Signed in as plain@example.com: the access token is valid for .\n',
  })
  expect(JSON.parse(stdout)).toMatchObject({ count: 2 })
})
