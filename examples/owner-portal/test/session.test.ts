/** The session: its id, its cookie, and what it never holds (reliability scenarios M1, M4, M5; statement S54). */
import { describe, expect, it } from '@jest/globals'
import session from 'express-session'
import { isSoak } from '../../../tests/support/runs.ts'
import { credential, passcode, startPortal } from './portal-under-test.ts'

const plain = { identity: 'plain@example.com', credential }

describe('the session', () => {
  it('has a new id after each sign-in and each sign-out, and none comes again (M1)', async () => {
    const portal = await startPortal({ emulator: { firewall: false } })
    const me = portal.visitor()
    const ids = new Set<string | undefined>()
    const times = isSoak ? 50 : 10
    let page = await me.open('/sign-in')
    for (let run = 0; run < times; run += 1) {
      const home = await me.follow(await me.send(page, '/sign-in', plain))
      ids.add(me.session())
      page = await me.follow(await me.send(home, '/sign-out'))
      ids.add(me.session())
    }
    expect(ids.size).toBe(2 * times)
    expect(ids).not.toContain(undefined)
  }, 120_000)

  it('has a new id after a sign-in with a passcode', async () => {
    const portal = await startPortal()
    const me = portal.visitor()
    const page = await me.follow(
      await me.send(await me.open('/sign-in'), '/sign-in', { identity: 'mfa@example.com', credential }),
    )
    const before = me.session()
    await me.send(page, '/sign-in/passcode', { passcode: passcode(portal.emulator) })
    expect(me.session()).not.toBe(before)
  })

  it('is worthless under its old id', async () => {
    const portal = await startPortal()
    const { me, home } = await portal.signedIn()
    const cookie = me.session() ?? ''
    await me.send(home, '/sign-out')
    expect((await portal.visitor().open('/', { cookie })).location).toBe('/sign-in')
  })

  it('does not take an id that somebody else made up', async () => {
    const me = (await startPortal()).visitor()
    const page = await me.open('/sign-in')
    const cookie = `${page.cookies[0]?.split(';')[0]}; owner-portal=s%3Achosen-by-somebody-else.forged`
    await me.send(page, '/sign-in', plain, { cookie })
    expect(me.session()).toBeDefined()
    expect(me.session()).not.toContain('chosen-by-somebody-else')
  })

  it('has a cookie that no script can read and no other site’s form sends (M5)', async () => {
    const me = (await startPortal()).visitor()
    const { cookies } = await me.send(await me.open('/sign-in'), '/sign-in', plain)
    const cookie = cookies.find((each) => each.startsWith('owner-portal=')) ?? ''
    expect(cookie.split('; ').slice(1)).toEqual(['Path=/', 'HttpOnly', 'SameSite=Lax'])
  })

  it('has __Host- cookies for https alone behind a proxy that ends TLS (M5)', async () => {
    const portal = await startPortal({ portal: { behindHttpsProxy: true } })
    const https = { 'x-forwarded-proto': 'https' }
    const page = await portal.visitor().open('/sign-in', https)
    const cookie = page.cookies[0]?.split(';')[0] ?? ''
    const { cookies } = await portal.visitor().send(page, '/sign-in', plain, { ...https, cookie })
    expect([...page.cookies, ...cookies].map((each) => each.split('=')[0])).toEqual([
      '__Host-owner-portal-form',
      '__Host-owner-portal',
    ])
    for (const each of [...page.cookies, ...cookies]) {
      expect(each.split('; ').slice(1)).toEqual(['Path=/', 'HttpOnly', 'Secure', 'SameSite=Lax'])
    }
    expect(page.headers['strict-transport-security']).toMatch(/max-age=\d{8}/u)
    const bare = await portal.visitor().open('/sign-in', { 'x-forwarded-proto': 'http' })
    expect(bare.cookies).toEqual([])
  })

  it('holds no token, password, passcode, verifier or code (M4)', async () => {
    const store = new session.MemoryStore()
    const written: string[] = []
    const set = store.set.bind(store)
    store.set = (id, data, done) => {
      written.push(JSON.stringify(data))
      set(id, data, done)
    }
    const portal = await startPortal({ portal: { sessionStore: store } })
    const me = portal.visitor()
    const page = await me.follow(
      await me.send(await me.open('/sign-in'), '/sign-in', { identity: 'mfa@example.com', credential }),
    )
    const code = passcode(portal.emulator)
    await me.follow(await me.send(page, '/sign-in/passcode', { passcode: code }))
    await portal.visitor().open('/sign-in/browser')
    const token = await portal.tokens.getAccessToken('mfa@example.com')
    expect(written.length).toBeGreaterThan(3)
    for (const secret of [credential, code, token, token.slice(-20)]) expect(written.join('\n')).not.toContain(secret)
    expect(written.join('\n')).not.toMatch(/verifier|refresh_token|eyJ|[A-Za-z0-9]{86}/u)
  })
})
