/** A firewall that one process meets at a sign-in is left alone by all that share a store with it (B-I). */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import { type Emulator, startEmulator } from '@owner-sso/emulator'
import { createSso, createTokenManager, firewallRecordName, type Sso, type TokenManager } from '../../src/index.ts'
import { mapStore, type MapStore } from '../../../../tests/support/map-store.ts'

const plain = { identity: 'plain@example.com', credential: 'correct horse' }
const mfa = { ...plain, identity: 'mfa@example.com' }
const blocked = { code: 'ERR_SSO_FIREWALL_CHALLENGE', requestSent: false }

let emulator: Emulator
let store: MapStore
beforeEach(async () => {
  emulator = await startEmulator()
  store = mapStore()
})
afterEach(() => emulator.close())

/** As another process has them: nothing in common with the first but the store. */
function process(shared = store): { sso: Sso; tokens: TokenManager } {
  const sso = createSso({ authUrl: emulator.authUrl, regionalAuthUrls: [emulator.regionalAuthUrl] })
  return { sso, tokens: createTokenManager({ issuer: sso, store: shared, minRefreshInterval: 0 }) }
}

/** Returns when the next request may go, as it was told. */
async function meetTheFirewall({ sso } = process()): Promise<number> {
  emulator.once('login-page', { firewall: true })
  return toldBy(sso, { ...blocked, requestSent: true })
}

async function toldBy(sso: Sso, refusal: object = blocked): Promise<number> {
  const error = await sso.login(plain).then(Object, Object)
  expect(error).toMatchObject(refusal)
  return error.nextAttemptAt
}

/** When that is, as the fleet has it. */
async function nextAttemptOfFleet(): Promise<number> {
  const { record } = (await store.read(firewallRecordName(emulator.authUrl))) ?? {}
  return record?.state === 'firewall' ? record.noted_at + record.wait : 0
}

/** The record says that the wait is over. */
async function waitItOut(authUrl = emulator.authUrl): Promise<void> {
  const stored = await store.read(firewallRecordName(authUrl))
  if (stored?.record.state !== 'firewall') throw new Error('nobody met a firewall')
  store.put(firewallRecordName(authUrl), { ...stored, record: { ...stored.record, noted_at: 0 } })
}

describe('a challenge page at a sign-in (I6)', () => {
  it('keeps every kind of sign-in and every refresh of other processes from sending', async () => {
    const signedIn = process()
    await signedIn.tokens.save('owner', await signedIn.sso.login(plain))
    const waiting = await process().sso.beginLogin(mfa)
    if (waiting.kind !== 'passcode-required') throw new Error('no passcode was asked for')
    await meetTheFirewall()
    const { url, request } = signedIn.sso.createAuthorizationUrl()
    const state = new URL(url).searchParams.get('state') ?? ''
    const issuer = encodeURIComponent(emulator.authUrl)
    const callback = `${emulator.authUrl}/void/callback?code=c&state=${state}&issuer=${issuer}`

    const before = emulator.requests.length
    await expect(process().sso.login(plain)).rejects.toMatchObject({ ...blocked, step: 'login-page' })
    await expect(process().sso.beginLogin(plain)).rejects.toMatchObject({ ...blocked, step: 'login-page' })
    const completed = process().sso.completeLogin(waiting.pending, { backupCode: 'abcd12345' })
    await expect(completed).rejects.toMatchObject({ ...blocked, step: 'mfa-verify' })
    const redeemed = process().sso.redeemCallback(callback, request)
    await expect(redeemed).rejects.toMatchObject({ ...blocked, step: 'code-exchange' })
    await expect(signedIn.tokens.refresh('owner')).rejects.toMatchObject(blocked)
    expect(emulator.requests.length).toBe(before)
  })

  it('tells every process the same time of the next try', async () => {
    await meetTheFirewall()
    await waitItOut()
    // The second page in a row: the fleet waits for longer than it says.
    const whoMetIt = process()
    const told = await meetTheFirewall(whoMetIt)
    const nextAttemptAt = await nextAttemptOfFleet()
    expect(nextAttemptAt).toBeGreaterThan(Date.now() / 1000 + 1200)
    const again = [await toldBy(whoMetIt.sso), await toldBy(process().sso)]
    for (const each of [told, ...again]) expect(Math.abs(each - nextAttemptAt)).toBeLessThanOrEqual(1)
  })

  it('tells the time of the block where a refresh of the same process met it', async () => {
    const before = process()
    await before.tokens.save('owner', await before.sso.login(plain))
    await meetTheFirewall()
    await waitItOut()
    const { sso, tokens } = process()
    emulator.once('refresh', { firewall: true })
    await expect(tokens.refresh('owner')).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    expect(Math.abs((await toldBy(sso)) - (await nextAttemptOfFleet()))).toBeLessThanOrEqual(1)
  })

  it('lets one sign-in alone try after the wait; its outcome counts for all', async () => {
    await meetTheFirewall()
    await waitItOut()
    const attempts = await Promise.allSettled([1, 2, 3, 4].map(() => process().sso.login(plain)))
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    await expect(process().sso.login(plain)).resolves.toMatchObject({ token_type: 'Bearer' })
    expect((await store.read(firewallRecordName(emulator.authUrl)))?.record).toMatchObject({ challenges: 0 })
  })

  it('lets another sign-in try at once where the one whose turn it is gives up before it sends anything', async () => {
    await meetTheFirewall()
    await waitItOut()
    const leaving = new AbortController()
    const swap: MapStore['swap'] = async (...args) => {
      const swapped = await store.swap(...args)
      leaving.abort()
      return swapped
    }
    const { sso } = process({ ...store, swap })
    const before = emulator.requests.length
    const left = { code: 'ERR_SSO_TIMEOUT', requestSent: false }
    await expect(sso.login(plain, { signal: leaving.signal })).rejects.toMatchObject(left)
    expect(emulator.requests.length).toBe(before)
    await expect(process().sso.login(plain)).resolves.toMatchObject({ token_type: 'Bearer' })
  })

  it('does not try where one of two stores says to wait, and gives its turn at the other back', async () => {
    await meetTheFirewall()
    await waitItOut()
    const { sso } = process()
    const elsewhere = mapStore()
    const noted = {
      schema: 1,
      state: 'firewall',
      challenges: 1,
      noted_at: Math.floor(Date.now() / 1000),
      wait: 900,
    } as const
    elsewhere.put(firewallRecordName(emulator.authUrl), { version: 1, record: noted })
    process(elsewhere).tokens.shareFirewallState(sso)
    await expect(sso.login(plain)).rejects.toMatchObject(blocked)
    await expect(process().sso.login(plain)).resolves.toMatchObject({ token_type: 'Bearer' })
  })

  it('makes everybody wait longer where it comes a second time', async () => {
    await meetTheFirewall()
    await waitItOut()
    await meetTheFirewall()
    const { record } = (await store.read(firewallRecordName(emulator.authUrl))) ?? {}
    expect(record).toMatchObject({ challenges: 2 })
    expect(record?.state === 'firewall' && record.wait).toBeGreaterThan(1400)
  })

  it('blocks only the instance that showed it', async () => {
    await meetTheFirewall()
    const { sso } = process()
    const { request, url } = sso.createAuthorizationUrl()
    const state = new URL(url).searchParams.get('state') ?? ''
    const callback = `${emulator.authUrl}/void/callback?code=c&state=${state}&issuer=${encodeURIComponent(emulator.regionalAuthUrl)}`
    await expect(sso.redeemCallback(callback, request)).rejects.toMatchObject({ code: 'ERR_SSO_TOKEN_REJECTED' })
  })
})

describe('a sign-in', () => {
  it('waits where a refresh met the challenge page', async () => {
    const { sso, tokens } = process()
    await tokens.save('owner', await sso.login(plain))
    emulator.once('refresh', { firewall: true })
    await expect(tokens.refresh('owner')).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    await expect(process().sso.login(plain)).rejects.toMatchObject(blocked)
  })

  it('of another createSso shares its blocks with a manager that shareFirewallState named', async () => {
    const { tokens } = process()
    const own = createSso({ authUrl: emulator.authUrl })
    tokens.shareFirewallState(own)
    emulator.once('login-page', { firewall: true })
    await expect(own.login(plain)).rejects.toMatchObject({ requestSent: true })
    await expect(process().sso.login(plain)).rejects.toMatchObject(blocked)
  })

  it('goes on while the store is down, and then learns of the firewall from the service', async () => {
    const down = { read: () => Promise.reject(new Error('down')), swap: () => Promise.reject(new Error('down')) }
    const { sso } = process({ ...store, ...down })
    await expect(sso.login(plain)).resolves.toMatchObject({ token_type: 'Bearer' })
    emulator.once('login-page', { firewall: true })
    await expect(sso.login(plain)).rejects.toMatchObject({ requestSent: true })
    await expect(sso.login(plain)).rejects.toMatchObject(blocked)
  })

  it('waits two seconds for a store that does not answer, and no longer', async () => {
    const silent = { read: () => new Promise<never>(() => undefined), swap: () => new Promise<never>(() => undefined) }
    const { sso } = process({ ...store, ...silent })
    await expect(sso.login(plain)).resolves.toMatchObject({ token_type: 'Bearer' })
    emulator.once('login-page', { firewall: true })
    await expect(sso.login(plain)).rejects.toMatchObject({ ...blocked, requestSent: true })
  }, 15_000)

  it('that meets no firewall writes nothing', async () => {
    await process().sso.login(plain)
    expect(await store.read(firewallRecordName(emulator.authUrl))).toBeUndefined()
  })
})
