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

describe('a client that could speak TLS 1.3', () => {
  const secure = useEmulator({ tls: true })

  it('meets the firewall', async () => {
    const sso = createSso({ authUrl: secure.authUrl, tls: { ca: secure.ca, maxVersion: 'TLSv1.3' } })
    await expect(sso.login(credentials)).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
  })
})
