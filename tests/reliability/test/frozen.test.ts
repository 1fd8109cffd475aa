/** A function that is stopped after each answer, and continued at the next request, hours later (N1, N2). */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createTokenManager, type TokenStore } from '@owner-sso/core'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import { fileTokenStore } from '@owner-sso/token-store-file'

jest.setTimeout(120_000)

const script = fileURLToPath(new URL('../test-artefacts/programs/frozen-function.js', import.meta.url))
const never = { refresh: () => Promise.reject(new Error('This process makes no refresh.')) }

let emulator: Emulator
let folder: string
let store: TokenStore
let child: ChildProcess | undefined
let passed = 0

beforeEach(async () => {
  emulator = await startEmulator({ firewall: false })
  folder = mkdtempSync(join(tmpdir(), 'owner-sso-frozen-'))
  store = fileTokenStore({ path: join(folder, 'tokens') })
  passed = 0
  pass(0)
  const { access_token, refresh_token, token_type } = await emulator.issueTokens('plain@example.com')
  const expires_at = Math.floor(emulator.clock.now()) + 8 * 3600
  const tokens = { access_token, refresh_token, token_type, expires_at, auth_url: emulator.authUrl }
  await createTokenManager({ issuer: never, store }).save('ann', tokens)
})
afterEach(async () => {
  child?.kill('SIGKILL')
  await emulator.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Hours in which the function is frozen. */
function pass(seconds: number): void {
  passed += seconds
  emulator.clock.advance(seconds)
  writeFileSync(join(folder, 'passed'), String(passed))
}

async function start(env: NodeJS.ProcessEnv): Promise<string> {
  child = spawn(process.execPath, ['--no-warnings', script], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: {
      ...process.env,
      OWNER_SSO_AUTH_URL: emulator.authUrl,
      OWNER_SSO_API_URL: emulator.ownerApiUrl,
      STORE_PATH: join(folder, 'tokens'),
      PASSED_FILE: join(folder, 'passed'),
      ...env,
    },
  })
  const [port] = await once(child, 'message')
  return `http://127.0.0.1:${port}`
}

test.each([
  ['N1: background: false', {}],
  ['N2: waitUntil', { WAIT_UNTIL: '1' }],
])('%s: no refresh is half-way while it is frozen, and every request gets a token that works', async (_, env) => {
  const url = await start(env)
  const answers: string[] = []
  // Fresh, ageing, ageing again, long expired: whatever it finds when it is continued.
  for (const hours of [0, 6.9, 0.5, 6.9, 30, 2, 7.95]) {
    pass(hours * 3600)
    child?.kill('SIGCONT')
    const answer = await fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(60_000) })
    answers.push(await answer.text())
    child?.kill('SIGSTOP')
    expect(JSON.stringify((await store.read('ann'))?.record)).not.toContain('"intent"')
  }
  expect(answers).toEqual(answers.map(() => '200'))
  expect(emulator.counters).toMatchObject({ replays: 0 })
  expect(emulator.counters.tokenRefreshes).toBeGreaterThanOrEqual(4)
})
