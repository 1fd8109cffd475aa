/** What a service may do, one switch of the emulator each: how a login or a refresh of core ends once it is set. */
import { describe, expect, it } from '@jest/globals'
import { useEmulator } from '@owner-sso/emulator/jest'
import { createSso } from '../../src/index.ts'
import { logIn, tokens, type Row } from './calls.ts'
import { loginRows } from './login-rows.ts'
import { networkRows } from './network-rows.ts'
import { tokenRows } from './token-rows.ts'

const emulator = useEmulator()
const credentials = { identity: 'plain@example.com', credential: 'correct horse' }

describe('a switch that is set while the emulator runs', () => {
  it.each<Row>([...loginRows, ...tokenRows, ...networkRows])('$when', async ({ set, call, options, ends }) => {
    const usual = { authUrl: emulator.authUrl, regionalAuthUrls: [emulator.regionalAuthUrl] }
    const held = await createSso(usual).login(credentials)
    set(emulator)
    const sso = createSso({ ...usual, ...options })
    expect(await call(sso, held, emulator).catch((error: unknown) => error)).toMatchObject(ends)
  })

  it('is back where it was for the next test', async () => {
    const sso = createSso({ authUrl: emulator.authUrl })
    const held = await sso.login(credentials)
    for (const { set } of [...loginRows, ...tokenRows, ...networkRows]) set(emulator)
    emulator.reset()
    expect(await logIn(sso, held, emulator)).toMatchObject(tokens)
    expect(await sso.refresh(held)).toMatchObject(tokens)
  })
})

describe('the TLS versions of new connections', () => {
  const secure = useEmulator({ tls: true })
  const logInOver = (maxVersion: 'TLSv1.2' | 'TLSv1.3'): Promise<unknown> =>
    createSso({ authUrl: secure.authUrl, tls: { ca: secure.ca, maxVersion } })
      .login(credentials)
      .catch((error: unknown) => error)

  it('keep a client out that speaks 1.2 alone, and let it in again', async () => {
    secure.change({ tlsMinVersion: 'TLSv1.3' })
    expect(await logInOver('TLSv1.2')).toMatchObject({ code: 'ERR_SSO_UNREACHABLE', requestSent: false })
    secure.change({ tlsMinVersion: 'TLSv1.2' })
    expect(await logInOver('TLSv1.2')).toMatchObject(tokens)
  })

  it('lead a client that could speak 1.3 to the firewall, or are 1.2', async () => {
    expect(await logInOver('TLSv1.3')).toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    secure.change({ tlsMaxVersion: 'TLSv1.2' })
    expect(await logInOver('TLSv1.3')).toMatchObject(tokens)
  })
})
