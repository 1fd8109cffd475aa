/** Each limit at it and one beyond it: the status page, its words, and who may see it. */
import type { IncomingMessage } from 'node:http'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import type { TokenStatus } from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { ago, duration } from '../../src/status-page/duration.ts'
import { entryPage } from '../../src/status-page/pages/entry-page.ts'
import { messagePage } from '../../src/status-page/pages/layout.ts'
import { type AccountRow, overviewPage } from '../../src/status-page/pages/overview-page.ts'
import { browserPage, passcodePage, signInPage } from '../../src/status-page/pages/sign-in-pages.ts'
import { sharedTries } from '../../src/status-page/shared-tries.ts'
import { statusPage, type StatusPageOptions } from '../../src/status-page/status-page.ts'
import { submissions } from '../../src/status-page/submissions.ts'
import { visitorsOf } from '../../src/status-page/visitor.ts'
import { waitingSignIns } from '../../src/status-page/waiting-sign-ins.ts'
import { isTaken } from '../outcome-of.ts'

it.each([
  [-1, 'less than a second'],
  [0.9, 'less than a second'],
  [1, '1 second'],
  [59, '59 seconds'],
  [60, '1 minute'],
  [119, '1 minute'],
  [3600, '1 hour'],
  [3660, '1 hour 1 minute'],
  [86_399, '23 hours 59 minutes'],
  [86_400, '1 day'],
  [90_000, '1 day 1 hour'],
  [172_859, '2 days'],
])('%f seconds are %s', (seconds, words) => {
  expect(duration(seconds)).toBe(words)
})

it('what was less than a second ago was just now', () => {
  expect([ago(1000, 1000.9), ago(1000, 1001), ago(1001, 1000)]).toEqual(['just now', '1 second ago', 'just now'])
})

describe('the status page', () => {
  const now = 1_790_000_000
  beforeEach(() => void jest.useFakeTimers({ now: now * 1000 }))
  afterEach(() => void jest.useRealTimers())
  const at = (seconds: number) => jest.setSystemTime((now + seconds) * 1000)

  it.each([
    ['/status', true],
    ['/a.b/c_d-9', true],
    ['status', false],
    ['x/status', false],
    ['/status/', false],
    ['/status?', false],
    ['/a b', false],
    ['/', false],
    ['', false],
  ])('may be at %j: %s', (path, isPath) => {
    const given = { tokens: { on: () => () => undefined }, store: memoryTokenStore(), path }
    const open = () => statusPage(given as unknown as StatusPageOptions).close()
    expect(isTaken(open)).toBe(isPath)
  })

  it('counts so many tries in so much time, from the first on', async () => {
    const store = memoryTokenStore()
    const tries = sharedTries(store, 'tries', { tries: 2, during: 900 })
    expect([await tries.count('ann'), await tries.count('ann')]).toEqual([0, 0])
    at(1)
    expect([await tries.count('ann'), await tries.count('bob')]).toEqual([899, 0])
    at(899.5)
    expect(await tries.count('ann')).toBe(0.5)
    at(900)
    expect([await tries.count('ann'), await tries.count('ann'), await tries.count('ann')]).toEqual([0, 0, 900])
    await tries.forget('ann')
    expect(await tries.count('ann')).toBe(0)
    // And of nobody else: bob's first try was at 1.
    expect([await tries.count('bob'), await tries.count('bob')]).toEqual([0, 1])
  })

  it('counts no try of a thousand and first name, so that those before it stay counted', async () => {
    const tries = sharedTries(memoryTokenStore(), 'tries', { tries: 1, during: 900 })
    expect(await tries.count('ann')).toBe(0)
    at(1)
    for (let index = 1; index < 1000; index += 1) expect(await tries.count(`name ${index}`)).toBe(0)
    expect(await tries.count('one more')).toBe(899)
    expect(await tries.count('ann')).toBe(899)
    at(900)
    expect(await tries.count('one more')).toBe(0)
  })

  it('knows who came in for 30 days, by a cookie that is among others', () => {
    const visitors = visitorsOf(Buffer.alloc(32, 7), '/status', false)
    const { cookie = '', id } = visitors.fresh(true)
    expect(cookie).toMatch(/; Path=\/status; Max-Age=2592000; HttpOnly; SameSite=Lax$/u)
    const value = cookie.split(';')[0] ?? ''
    const seen = (header?: string) => visitors.of({ headers: { cookie: header } } as IncomingMessage)
    at(30 * 86_400 - 1)
    for (const header of [value, `a=b; ${value}`, `${value}; a=b`]) {
      expect(seen(header)).toEqual({ id, isInside: true, formToken: expect.any(String) })
    }
    for (const header of [`x${value}`, `a=b;${value}`, undefined]) expect(seen(header).isInside).toBe(false)
    const [name, sent = ''] = value.split('=')
    expect(seen(`${name}=${sent.replace('inside', 'outside')}`)).toHaveProperty('cookie')
    at(30 * 86_400)
    expect(seen(value)).toMatchObject({ isInside: false, cookie: expect.any(String) })
    const { cookie: outside = '' } = visitors.fresh(false)
    expect(seen(outside.split(';')[0])).toEqual({
      id: expect.any(String),
      isInside: false,
      formToken: expect.any(String),
    })
  })
})

it('what somebody submits fails with its answer, and the next one begins anew', async () => {
  const once = submissions()
  const exchange = { visitor: { id: 'ann' }, url: new URL('http://a/b'), form: new URLSearchParams() } as never
  const log: string[] = []
  const submit = (text: string) => async () => {
    log.push(text)
    return () => Promise.reject(new Error(text))
  }
  await expect(once(exchange, submit('first'))).rejects.toThrow('first')
  await expect(once(exchange, submit('second'))).rejects.toThrow('second')
  expect(log).toEqual(['first', 'second'])
})

it('a hundred sign-ins wait, and the oldest goes for one more', async () => {
  const waiting = waitingSignIns()
  for (let n = 0; n < 100; n += 1) await waiting.set(`${n}`, { step: 'done', account: 'ann' })
  const isThere = async (visitor: string) => (await waiting.get(visitor, 'done')) !== undefined
  // To look at one makes it the newest.
  expect(await isThere('0')).toBe(true)
  await waiting.set('one more', { step: 'done', account: 'ann' })
  expect([await isThere('0'), await isThere('1'), await isThere('2')]).toEqual([true, false, true])
})

describe('a page for people', () => {
  const context = { path: '/status', formToken: 'the-token', isInside: true }
  const outside = { ...context, isInside: false }
  const notices = [undefined, { kind: 'good', text: 'It \u202eworks <b>.' }, { kind: 'bad', text: 'No.' }] as const
  const factors = ['one', 'two'].map((id) => ({ id, name: `Phone <${id}>`, factorType: 'token:software' }))
  const url = 'https://auth.example.com/authorize?redirect_uri=https%3A%2F%2Fa.example%2Fcallback&state=s'
  const now = 1_790_000_000
  const status = (account: string, state: TokenStatus['state'], more: Partial<TokenStatus> = {}): AccountRow => ({
    account,
    status: { state, ...more },
  })
  const overview = { ...context, accounts: [], clients: [], failures: [], refreshAfter: 0.75, now }
  const client = { name: 'heating', accounts: ['ann@example.com'], scope: ['token'] as const, calls: 0 }

  it.each<[string, readonly unknown[]]>([
    ['the entrance', [entryPage(outside), entryPage(context, notices[2])]],
    ['a message', [messagePage(outside, 'That <did>', 'a\u001b & b')]],
    [
      'the sign-in',
      notices.flatMap((notice) => [
        signInPage({ ...context, identity: '', notice }),
        signInPage({ ...context, account: 'sub:7', identity: 'ann@example.com', notice }),
      ]),
    ],
    [
      'the passcode',
      [undefined, 'two', 'three'].map((chosen) =>
        passcodePage({ ...context, identity: 'ann@example.com', factors, chosen }),
      ),
    ],
    ['no factor', [passcodePage({ ...context, identity: 'a\nb', factors: [], notice: notices[2] })]],
    [
      'the service’s own page',
      [
        browserPage({ ...context, url }),
        browserPage({ ...context, account: 'ann+@example.com', url, notice: notices[2] }),
        browserPage({ ...context, url: 'https://auth.example.com/authorize' }),
      ],
    ],
    ['nothing yet', [overviewPage(overview)]],
    [
      'all that can be',
      [
        overviewPage({
          ...overview,
          notice: notices[1],
          clients: [
            client,
            {
              ...client,
              accounts: ['ann@example.com', 'bob\u202e'],
              scope: ['token', 'proxy'],
              calls: 12,
              last_used_at: now - 61,
              last_address: '192.0.2.1',
              expires_at: now + 60,
            },
            { ...client, name: 'over', scope: ['proxy'], last_used_at: now, expires_at: now },
          ],
          failures: [
            { at: now - 5, what: 'It <failed>\n.', count: 1 },
            { at: now - 65, what: 'Again.', account: 'ann\u202e', count: 2 },
          ],
          accounts: [
            { account: 'unread\u001b', status: undefined },
            status('ann', 'valid', { obtained_at: now - 100, expires_at: now + 300 }),
            status('late', 'valid', { obtained_at: now - 300, expires_at: now + 100 }),
            status('later', 'valid', { obtained_at: now - 300.4, expires_at: now + 100.4 }),
            status('over', 'expired', { obtained_at: now - 400, expires_at: now - 1 }),
            status('new', 'valid', { obtained_at: now, expires_at: now }),
            status('bare', 'valid'),
            status('ahead', 'valid', { obtained_at: now + 100, expires_at: now + 300 }),
            status('in doubt', 'in-doubt', { obtained_at: now - 1, expires_at: now + 1 }),
            status('out', 'signed-out', { expires_at: now + 300 }),
            status('a & b', 'reauthentication-required'),
            status('lives', 'reauthentication-required', { expires_at: now + 61 }),
            status('lived', 'reauthentication-required', { expires_at: now }),
          ],
        }),
      ],
    ],
    ['clients that can’t be read', [overviewPage({ ...overview, clients: undefined })]],
  ])('is as the last release had it: %s', async (_, pages) => {
    expect((await Promise.all(pages)).map(String)).toMatchSnapshot()
  })
})
