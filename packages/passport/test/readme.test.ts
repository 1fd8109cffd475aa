import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from '@jest/globals'
import { startEmulator } from '@owner-sso/emulator'
import { freePort } from '../../../tests/support/free-port.ts'

const packageFolder = fileURLToPath(new URL('..', import.meta.url))

it('the quick start of the README runs as it stands, and signs in', async () => {
  const emulator = await startEmulator()
  const port = await freePort()
  const program = runQuickStart({ OWNER_SSO_AUTH_URL: emulator.authUrl, SESSION_SECRET: 'x', PORT: String(port) })
  try {
    await listening(port, program)
    const answer = await fetch(`http://127.0.0.1:${port}/login`, {
      method: 'POST',
      body: new URLSearchParams({ identity: 'plain@example.com', credential: 'correct horse' }),
    })
    expect(await answer.json()).toEqual({ account: 'plain@example.com', email: 'plain@example.com' })
  } finally {
    program.kill()
    await emulator.close()
  }
})

function runQuickStart(environment: Record<string, string>): ChildProcess {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const [, code = ''] = /<!-- runs -->\s+```js\n([\s\S]*?)```/u.exec(readme) ?? []
  return spawn(process.execPath, ['--input-type=module', '-e', code], {
    cwd: packageFolder,
    env: { PATH: process.env['PATH'], ...environment },
    stdio: 'ignore',
  })
}

async function listening(port: number, program: ChildProcess): Promise<void> {
  while (program.exitCode === null) {
    const answered = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    )
    if (answered) return
  }
  throw new Error(`The program ended with exit code ${program.exitCode}`)
}
