import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from '@jest/globals'
import { startEmulator } from '@owner-sso/emulator'
import { codeBlocksOf } from '../../../tests/support/code-blocks.ts'
import { freePort } from '../../../tests/support/free-port.ts'

const packageFolder = fileURLToPath(new URL('..', import.meta.url))

it('the quick start of the README, in that of Passport: each answer that is not 200 says why, and a sign-in leads to the vehicles', async () => {
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
    const stranger = await fetch(vehicles)
    expect([stranger.status, await stranger.json()]).toEqual([
      401,
      expect.objectContaining({ code: 'ERR_SSO_SIGNED_OUT', detail: expect.stringMatching(/^[A-Z].+\.$/u) }),
    ])
    const login = (credential: string): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}/login`, {
        method: 'POST',
        body: new URLSearchParams({ identity: 'plain@example.com', credential }),
      })
    const wrong = await login('a guess')
    expect([wrong.status, await wrong.text()]).toEqual([
      401,
      expect.stringMatching(/"code":"ERR_SSO_INVALID_CREDENTIALS","message":"[A-Z][^"]+\."/u),
    ])
    const signIn = await login('correct horse')
    const cookie = signIn.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    expect(await (await fetch(vehicles, { headers: { cookie } })).json()).toMatchObject({ count: 2 })
    emulator.once('login-page', { firewall: true })
    const blocked = await login('correct horse')
    expect([blocked.status, await blocked.json()]).toEqual([
      503,
      expect.objectContaining({ code: 'ERR_SSO_FIREWALL_CHALLENGE', detail: expect.any(String) }),
    ])
  } finally {
    program.kill()
    await once(program, 'exit')
    await emulator.close()
  }
})

function runQuickStart(environment: Record<string, string>): ChildProcess {
  const [inPassport = '', ours = ''] = ['passport', 'express'].map(
    (name) => codeBlocksOf(`packages/${name}/README.md`).find(({ marks }) => 'runs' in marks)?.code,
  )
  const code = inPassport.replace(/^(?=const port = )/mu, ours)
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
