import { describe, expect, it } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { startEmulator, type Emulator, type EmulatorOptions } from '@owner-sso/emulator'

/** The client, by the name that it has on npm. */
const require = createRequire(import.meta.url)
const legacyClient = require.resolve('teslajs')
/** Where it has its codes sent, as its source says. */
const source = readFileSync(join(dirname(legacyClient), 'src/auth.js'), 'utf8')
const redirectUris = [/redirect_uri: '([^']+)'/u.exec(source)?.[1] ?? '']

/** The service as such a client knows it: over TLS, with its fixed redirect URI registered. */
function start(options: EmulatorOptions = {}): Promise<Emulator> {
  return startEmulator({ strictness: 'lenient', tls: true, tlsMaxVersion: 'TLSv1.2', redirectUris, ...options })
}

interface Ending {
  readonly token?: string
  readonly vehicle?: string
  readonly error?: string
}

/** A whole login and one call of the owner API, in a process of its own whose HTTPS requests arrive on loopback. */
async function signIn(emulator: Emulator, identity: string, more: Record<string, string> = {}): Promise<Ending> {
  const preload = join(import.meta.dirname, 'loopback.cjs')
  const script = join(import.meta.dirname, 'legacy-client.cjs')
  const child = spawn(process.execPath, ['--no-deprecation', '--require', preload, script, legacyClient], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {
      LOOPBACK_SERVICE: emulator.authUrl,
      LOOPBACK_OWNER_API: emulator.ownerApiUrl,
      LOOPBACK_CA: emulator.ca ?? '',
    },
  })
  child.stdin.end(JSON.stringify({ username: identity, password: 'correct horse', ...more }))
  const [output] = await Promise.all([text(child.stdout), once(child, 'exit')])
  return JSON.parse(output)
}

/** A login counts if the service's own log has its tokens, and the owner API takes the one the client ended with. */
async function counts(emulator: Emulator, { token }: Ending): Promise<{ answered: number; accepted: boolean }> {
  const answers = emulator.requests.filter(({ path, status }) => path === '/oauth2/v3/token' && status === 200)
  const answered = Math.min(answers.length, emulator.counters.codeExchanges)
  const headers = { authorization: `Bearer ${token ?? ''}` }
  const sent = request(`${emulator.ownerApiUrl}/api/1/vehicles`, { headers, ca: emulator.ca }).end()
  const [answer]: IncomingMessage[] = await once(sent, 'response')
  answer?.resume()
  return { answered, accepted: answer?.statusCode === 200 }
}

/** What reached the service, in order. */
const pathsOf = ({ requests }: Emulator): readonly string[] => requests.map(({ method, path }) => `${method} ${path}`)

describe('a legacy client from npm', () => {
  it('signs in, unchanged, and calls the owner API', async () => {
    await using emulator = await start()
    const ending = await signIn(emulator, 'plain@example.com')
    expect(ending).toMatchObject({ vehicle: 'Daily' })
    expect(pathsOf(emulator)).toEqual([
      'GET /oauth2/v3/authorize',
      'POST /oauth2/v3/authorize',
      'POST /oauth2/v3/token',
      'POST /oauth/token',
      'GET /api/1/vehicles',
    ])
    expect(await counts(emulator, ending)).toEqual({ answered: 1, accepted: true })
  })

  it('signs in with a second factor, without the _csrf and with the transaction_id alone', async () => {
    await using emulator = await start({ mfaAt: 'form-submission' })
    const identity = 'mfa@example.com'
    const account = emulator.accounts.find((candidate) => candidate.identity === identity)
    const passcode = { mfaPassCode: account?.passcode('Tablet') ?? '', mfaDeviceName: 'Tablet' }
    const ending = await signIn(emulator, identity, passcode)
    expect(await counts(emulator, ending)).toEqual({ answered: 1, accepted: true })
    const [verification] = emulator.requests.filter(({ path }) => path.endsWith('/mfa/verify'))
    expect(Object.keys(verification?.body ?? {})).toEqual(['transaction_id', 'factor_id', 'passcode'])
    const forms = emulator.requests.filter(({ method, path }) => method === 'POST' && path.endsWith('/authorize'))
    expect(Object.keys(forms.at(-1)?.body ?? {})).toEqual(['transaction_id'])
  })

  it('signs in at the other region', async () => {
    await using emulator = await start()
    const ending = await signIn(emulator, 'regional@example.com')
    expect(emulator.requests[0]?.status).toBe(303)
    expect(await counts(emulator, ending)).toEqual({ answered: 1, accepted: true })
  })

  it('is refused by a service that keeps to the document, and ends without a token', async () => {
    await using emulator = await start({ strictness: 'document' })
    const ending = await signIn(emulator, 'plain@example.com')
    expect(ending.token).toBeUndefined()
    expect(await counts(emulator, ending)).toEqual({ answered: 0, accepted: false })
  })

  it('does not count as signed in where its password was wrong', async () => {
    await using emulator = await start()
    const ending = await signIn(emulator, 'plain@example.com', { password: 'wrong' })
    expect(ending.error).toMatch(/rejected/u)
    expect(await counts(emulator, ending)).toEqual({ answered: 0, accepted: false })
  })
})
