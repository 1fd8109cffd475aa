import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const project = join(root, 'packages/workspace/test-artefacts/empty-project')
let emulator: Emulator

beforeAll(async () => {
  emulator = await startEmulator()
  rmSync(project, { recursive: true, force: true })
  mkdirSync(project, { recursive: true })
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  // What `npm install` would have put there.
  symlinkSync(join(root, 'packages/workspace/node_modules'), join(project, 'node_modules'))
})
afterAll(() => emulator.close())

describe('the quick starts of the README, pasted into an empty project', () => {
  it('core: prints the vehicles of the account', async () => {
    const program = paste('core')
    const printed = await outputOf(program)
    expect(printed).toContain('response')
    expect(printed).toContain('vin')
  })

  it('Passport: answers a sign-in with the user', async () => {
    const port = await freePort()
    const program = paste('passport', { PORT: String(port) })
    try {
      await listening(port, program)
      const signIn = await fetch(`http://127.0.0.1:${port}/login`, {
        method: 'POST',
        body: new URLSearchParams({ identity: 'plain@example.com', credential: 'correct horse' }),
      })
      expect(signIn.status).toBe(200)
      expect(await signIn.json()).toEqual({ account: 'plain@example.com', email: 'plain@example.com' })
    } finally {
      program.kill()
    }
  })
})

/** Runs the README's code block that the comment `runs: <name>` stands before. */
function paste(name: string, environment: NodeJS.ProcessEnv = {}): ChildProcess {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  const code = new RegExp(`<!-- runs: ${name} -->\\s+\`\`\`js\\n([\\s\\S]*?)\`\`\``, 'u').exec(readme)?.[1]
  if (code === undefined) throw new Error(`README.md has no code block marked "runs: ${name}"`)
  writeFileSync(join(project, `${name}.js`), code)
  return spawn(process.execPath, [`${name}.js`], {
    cwd: project,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      OWNER_SSO_AUTH_URL: emulator.authUrl,
      OWNER_SSO_API_URL: emulator.ownerApiUrl,
      OWNER_SSO_ACCOUNT: 'plain@example.com',
      OWNER_SSO_CREDENTIAL: 'correct horse',
      SESSION_SECRET: 'a secret of this test',
      ...environment,
    },
  })
}

async function outputOf(program: ChildProcess): Promise<string> {
  let printed = ''
  program.stdout?.on('data', (chunk) => (printed += chunk))
  program.stderr?.on('data', (chunk) => (printed += chunk))
  await once(program, 'close')
  return printed
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
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
