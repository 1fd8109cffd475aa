/** What people who are not signed in cost those who are: nothing, however often they come. */
import { Agent, get } from 'node:http'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from '@jest/globals'
import { type RunningServer, serve } from '../src/server.ts'
import { MemorySessionStore } from '../src/session-store.ts'
import { credential, startPortal } from './portal-under-test.ts'

const servers: RunningServer[] = []
const connections = new Agent({ keepAlive: true, maxSockets: 8 })
afterEach(async () => {
  connections.destroy()
  await Promise.all(servers.splice(0).map((server) => server.close()))
})

/** Knows whose sessions it was ever given. */
class CountingStore extends MemorySessionStore {
  readonly kept = new Set<string>()

  override set(...[id, session, done]: Parameters<MemorySessionStore['set']>): void {
    this.kept.add(id)
    super.set(id, session, done)
  }
}

/** Status codes and session cookies of this many strangers who open a page. */
async function strangersAt(url: string, count: number): Promise<{ statuses: Set<number>; sessions: number }> {
  const statuses = new Set<number>()
  let sessions = 0
  let left = count
  const stranger = async (): Promise<void> => {
    while ((left -= 1) >= 0) {
      const asked = get(url, { agent: connections })
      const [answer] = await once(asked, 'response')
      answer.resume()
      await once(answer, 'end')
      statuses.add(answer.statusCode)
      const cookies: string[] = answer.headers['set-cookie'] ?? []
      if (cookies.some((cookie) => cookie.startsWith('owner-portal='))) sessions += 1
    }
  }
  await Promise.all(Array.from({ length: 8 }, stranger))
  return { statuses, sessions }
}

describe('strangers', () => {
  it('sign nobody out by looking at the sign-in page, however often: none of them has a session, in a cookie or in the store', async () => {
    const store = new CountingStore()
    const portal = await startPortal({ portal: { sessionStore: store } })
    const { me } = await portal.signedIn()
    const server = await serve(portal.app, '127.0.0.1', 0)
    servers.push(server)
    const before = [...store.kept]
    const { statuses, sessions } = await strangersAt(`${server.url}/sign-in`, 100)
    expect([...statuses]).toEqual([200])
    expect(sessions).toBe(0)
    expect([...store.kept]).toEqual(before)
    expect((await me.open('/')).status).toBe(200)
  })

  it('get 30 links to the service’s page from one address, each of which waits in memory', async () => {
    const portal = await startPortal()
    const server = await serve(portal.app, '127.0.0.1', 0)
    servers.push(server)
    const { statuses, sessions } = await strangersAt(`${server.url}/sign-in/browser`, 100)
    expect(statuses).toEqual(new Set([200, 429]))
    expect(sessions).toBe(30)
  })

  it('leave the sign-in page’s form usable: its token stands in a signed cookie that no script reads', async () => {
    const me = (await startPortal()).visitor()
    const page = await me.open('/sign-in')
    const [cookie = ''] = page.cookies
    expect(cookie).toMatch(/^owner-portal-form=s%3A/u)
    expect(cookie.split('; ').slice(1)).toEqual(['Path=/', 'HttpOnly', 'SameSite=Lax'])
    expect((await me.send(page, '/sign-in', { identity: 'plain@example.com', credential })).status).toBe(303)
  })

  it('can’t make that cookie up', async () => {
    const me = (await startPortal()).visitor()
    const { _csrf = '' } = (await me.open('/sign-in')).fields('/sign-in')
    const fields = { identity: 'plain@example.com', credential, _csrf }
    for (const forged of [_csrf, `s%3A${_csrf}`, `s%3A${_csrf}.forged`]) {
      const cookie = `owner-portal-form=${forged}`
      expect((await (await startPortal()).visitor().post('/sign-in', fields, { cookie })).status).toBe(403)
    }
  })
})

describe('the sessions in memory', () => {
  const visitor = { cookie: { originalMaxAge: null } } as never
  const owner = { cookie: { originalMaxAge: null }, passport: { user: { account: 'plain@example.com' } } } as never

  it('of people who are signed in are kept, however many sign-ins are begun', () => {
    const store = new MemorySessionStore()
    store.set('owner', owner)
    for (let count = 0; count < 20_000; count += 1) store.set(`stranger ${count}`, visitor)
    store.get('owner', (_error, session) => expect(session).toEqual(owner))
    store.get('stranger 0', (_error, session) => expect(session).toBeNull())
  })

  it('are found under their id, and gone once they are destroyed', () => {
    const store = new MemorySessionStore()
    for (const session of [visitor, owner, visitor]) {
      store.set('one', session)
      store.get('one', (_error, found) => expect(found).toEqual(session))
    }
    store.destroy('one')
    store.get('one', (_error, found) => expect(found).toBeNull())
  })
})
