/** What went wrong elsewhere gets a page, and the process goes on. */
import { describe, expect, it } from '@jest/globals'
import session from 'express-session'
import request from 'supertest'
import { startPortal } from './portal-under-test.ts'

describe('other requests', () => {
  it.each([
    '/nowhere',
    '/sign-in/nowhere',
    '/assets/nowhere.css',
    '/assets/..%2fpackage.json',
    '/assets/',
    '/sign-out',
    '/refresh',
    '/vehicles/1001',
  ])('get the 404 page for %s', async (path) => {
    const page = await (await startPortal()).visitor().open(path)
    expect(page.status).toBe(404)
    expect(page.text).toContain('There is no such page')
  })

  it.each(['PUT', 'DELETE', 'PATCH'] as const)('are rejected with the method %s', async (method) => {
    const { app } = await startPortal()
    const send = {
      PUT: () => request(app).put('/sign-in'),
      DELETE: () => request(app).delete('/'),
      PATCH: () => request(app).patch('/'),
    }
    expect((await send[method]()).status).toBe(403)
  })
})

describe('a fault of the portal', () => {
  it('is logged in one piece, answered with 500 and a way on, and tells nothing', async () => {
    const store = new session.MemoryStore()
    const portal = await startPortal({ portal: { sessionStore: store } })
    const { me } = await portal.signedIn()
    store.get = (_id, done) => done(new Error('the session store is gone'))
    const page = await me.open('/')
    expect(page.status).toBe(500)
    expect(page.text).toContain('Something went wrong')
    expect(page.html).not.toContain('session store')
    expect(portal.log).toHaveLength(1)
    expect(portal.log[0]).toMatch(/^A page failed: Error: the session store is gone/u)
  })
})
