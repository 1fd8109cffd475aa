import { describe, expect, it } from '@jest/globals'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { startEmulator } from '@owner-sso/emulator'

const walk = readFileSync(new URL('../../../docs/guides/curl-walk.md', import.meta.url), 'utf8')
/** All blocks of the document, one after the other, as a reader pastes them. */
const script = [...walk.matchAll(/^```bash\n(.*?)^```$/gmsu)].map(([, block]) => block).join('')

const missing = ['bash', 'curl', 'openssl'].filter((program) => spawnSync(program, ['--version']).error !== undefined)
if (missing.length > 0) console.warn(`Skipped: docs/guides/curl-walk.md needs ${missing.join(' and ')} on the PATH.`)
const describeWithCurl = missing.length === 0 || process.env['CI'] === 'true' ? describe : describe.skip

describeWithCurl('curl alone', () => {
  it('signs in with a second factor, calls the owner API and refreshes, as docs/guides/curl-walk.md is written', async () => {
    await using emulator = await startEmulator()
    const folder = await mkdtemp(join(tmpdir(), 'owner-sso-curl-'))
    const { authUrl, ownerApiUrl } = emulator
    const bash = spawn('bash', ['-euo', 'pipefail', '-s'], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'], TMPDIR: folder, AUTH_URL: authUrl, OWNER_API_URL: ownerApiUrl },
    })
    bash.stdin.end(script)
    const [output, [status]] = await Promise.all([text(bash.stdout), once(bash, 'exit')])
    await rm(folder, { recursive: true })
    expect(status).toBe(0)
    expect(output.split('\n')).toEqual([
      '_csrf',
      '_phase',
      '_process',
      'transaction_id',
      'cancel',
      'disabled_field',
      'name="passcode"',
      '"valid":true',
      expect.stringMatching(/"display_name":"Daily"/u),
      '200',
      '',
    ])
    expect(emulator.requests.map((request) => `${request.method} ${request.path} ${request.status}`)).toEqual([
      'GET /oauth2/v3/authorize 200',
      'POST /oauth2/v3/authorize 302',
      'POST /oauth2/v3/token 200',
      'GET /oauth2/v3/authorize/mfa/factors 200',
      'POST /oauth2/v3/authorize/mfa/verify 200',
      'POST /oauth2/v3/authorize 302',
      'POST /oauth2/v3/token 200',
      'GET /api/1/products 200',
      'POST /oauth2/v3/token 200',
      'GET /api/1/products 200',
    ])
    expect(emulator.counters).toMatchObject({ codeExchanges: 1, tokenRefreshes: 1, challenges: 0 })
  })
})
