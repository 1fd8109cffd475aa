import { describe, expect, it } from '@jest/globals'
import { startEmulator, type Emulator, type EmulatorOptions } from '@owner-sso/emulator'
import { isAccepted } from './legacy/accepted.ts'
import { runNpmClient, type NpmEnding } from './legacy/npm-client.ts'

/** The service as such a client knows it: over TLS, whatever version they agree on. */
function start(options: EmulatorOptions = {}): Promise<Emulator> {
  return startEmulator({ strictness: 'lenient', tls: true, ...options })
}

function signIn(emulator: Emulator, username: string, more: Record<string, string> = {}): Promise<NpmEnding> {
  return runNpmClient(emulator, { username, password: 'correct horse', ...more })
}

/** A login counts if the service's own log has its tokens, and the owner API takes the one the client ended with. */
async function counts(emulator: Emulator, { fresh }: NpmEnding): Promise<{ answered: number; accepted: boolean }> {
  const answers = emulator.requests.filter(({ path, status }) => path === '/oauth2/v3/token' && status === 200)
  const answered = Math.min(answers.length, emulator.counters.codeExchanges)
  return { answered, accepted: await isAccepted(emulator, fresh ?? '') }
}

/** What reached the service, in order. */
const pathsOf = ({ requests }: Emulator): readonly string[] => requests.map(({ method, path }) => `${method} ${path}`)

describe('a legacy client from npm', () => {
  it('signs in, unchanged, calls the owner API, refreshes there, and calls it again', async () => {
    await using emulator = await start()
    const ending = await signIn(emulator, 'plain@example.com')
    expect(ending).toMatchObject({ vehicles: ['Daily', 'Weekend', 'Daily', 'Weekend'] })
    expect(pathsOf(emulator)).toEqual([
      'GET /oauth2/v3/authorize',
      'POST /oauth2/v3/authorize',
      'POST /oauth2/v3/token',
      'POST /oauth/token',
      'GET /api/1/vehicles',
      'POST /oauth/token',
      'GET /api/1/vehicles',
    ])
    expect(emulator.requests[0]?.tlsVersion).toBe('TLSv1.3')
    expect(await counts(emulator, ending)).toEqual({ answered: 1, accepted: true })
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, replays: 0 })
  })

  it('signs in with a second factor, without the _csrf and with the transaction_id alone', async () => {
    await using emulator = await start({ mfaAt: 'form-submission' })
    const identity = 'mfa@example.com'
    const passcode = { mfaPassCode: emulator.account(identity).passcode('Tablet'), mfaDeviceName: 'Tablet' }
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

  it('is rejected by a service that keeps to the document, and ends without a token', async () => {
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
