import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from '@jest/globals'
import { startEmulator } from '@owner-sso/emulator'
import { listen } from './servers.ts'

const packageFolder = fileURLToPath(new URL('..', import.meta.url))

it('the quick start of the README runs as it stands: 401 before the sign-in, the vehicles after it', async () => {
  const emulator = await startEmulator()
  const port = await freePort()
  const program = runQuickStart({
    OWNER_SSO_AUTH_URL: emulator.authUrl,
    OWNER_SSO_API_URL: emulator.ownerApiUrl,
    SESSION_SECRET: 'x',
    PORT: String(port),
  })
  try {
    await listening(port, program)
    const vehicles = `http://127.0.0.1:${port}/owner-api/api/1/vehicles`
    expect((await fetch(vehicles)).status).toBe(401)
    const signIn = await fetch(`http://127.0.0.1:${port}/login`, {
      method: 'POST',
      body: new URLSearchParams({ identity: 'plain@example.com', credential: 'correct horse' }),
    })
    const cookie = signIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    expect(await (await fetch(vehicles, { headers: { cookie } })).json()).toMatchObject({ count: 2 })
  } finally {
    program.kill()
    await once(program, 'exit')
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

async function freePort(): Promise<number> {
  const server = await listen(() => {})
  await server.close()
  return server.port
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
