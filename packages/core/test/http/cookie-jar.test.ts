/** The cookies of a login: which of those that the login page sets come back with the form and the code exchange. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { anyText } from '../../../../tests/support/any-text.ts'
import { runs } from '../../../../tests/support/runs.ts'
import { createSso } from '../../src/index.ts'
import { loopbackCertificate } from '../raw-server.ts'
import { goodPage, html, redirectToCallback, type SmallService, startSmallService } from '../small-service.ts'

let certificate: { key: string; cert: string }
let overHttp: SmallService
let overHttps: SmallService
beforeAll(async () => {
  certificate = await loopbackCertificate()
  overHttp = await startSmallService()
  overHttps = await startSmallService({}, certificate)
})
afterAll(() => Promise.all([overHttp.close(), overHttps.close()]))
beforeEach(() => {
  for (const service of [overHttp, overHttps]) service.answer({ formSubmission: redirectToCallback() })
})

const authorize = '/oauth2/v3/authorize'

/** The cookies that come back with the form, where the login page sets some. */
async function sentBack(setCookies: string[], service = overHttp): Promise<string[]> {
  service.requests.length = 0
  service.answer({
    loginPage: { ...html(goodPage), headers: { 'content-type': 'text/html', 'set-cookie': setCookies } },
  })
  await createSso({ authUrl: service.authUrl, tls: { ca: certificate.cert } }).login({
    identity: 'a@b.c',
    credential: 'x',
  })
  return cookiesOf(service, 1)
}

const cookiesOf = ({ requests }: SmallService, index: number): string[] =>
  (requests[index]?.headers.cookie ?? '').split('; ').filter((pair) => pair !== '')

describe('the cookies of a login (S23)', () => {
  it('come back with the path that they name, by default with that of the page', async () => {
    expect(
      await sentBack([`sid=1; Path=${authorize}; HttpOnly`, 'bm_sz=2', 'all=3; Path=/', 'no=4; Path=/other']),
    ).toEqual(['sid=1', 'bm_sz=2', 'all=3'])
    expect(cookiesOf(overHttp, 2)).toEqual(['bm_sz=2', 'all=3'])
  })

  it('are replaced by a later one of the same name, and end when they are told to', async () => {
    expect(await sentBack(['sid=1; Path=/', 'sid=2; Path=/', 'gone=1; Path=/', 'gone=; Path=/; Max-Age=0'])).toEqual([
      'sid=2',
    ])
  })

  it('are dropped where they name another domain', async () => {
    expect(await sentBack(['a=1; Domain=127.0.0.1', 'b=1; Domain=evil.example', 'c=1; Domain=0.0.1'])).toEqual(['a=1'])
  })

  it('are dropped where they break the rules of the prefix __Host- or __Secure-', async () => {
    const prefixed = ['__Host-a=1; Path=/', `__Host-b=1; Path=${authorize}`, '__Secure-c=1; Path=/', 'd=1; Secure']
    expect((await sentBack(prefixed, overHttps)).toSorted()).toEqual(['__Host-a=1', '__Secure-c=1', 'd=1'])
    expect(await sentBack(prefixed)).toEqual([])
  })

  it('are sent over HTTP/2 as well, those of the longest path first', async () => {
    const { authUrl } = overHttps
    overHttps.requests.length = 0
    const headers = { 'content-type': 'text/html', 'set-cookie': ['a=1; Path=/', `a=2; Path=${authorize}`] }
    overHttps.answer({ loginPage: { ...html(goodPage), headers } })
    const sso = createSso({ authUrl, transport: 'modern', tls: { ca: certificate.cert } })
    await sso.login({ identity: 'a@b.c', credential: 'x' })
    expect(overHttps.requests.map(({ httpVersion }) => httpVersion)).toEqual(['2.0', '2.0', '2.0'])
    expect([cookiesOf(overHttps, 1), cookiesOf(overHttps, 2)]).toEqual([['a=2', 'a=1'], ['a=1']])
  })

  it.each(['document', 'modern'] as const)('come back with the octets that they came with (%s)', async (transport) => {
    const { authUrl } = overHttps
    const octets = (text: string): string => Buffer.from(text).toString('latin1')
    const cookies = [
      `utf8=${octets('Zürich ✓')}`,
      'latin1=Z\xfcrich',
      'all=\x80\x9f\xa0\xad\xff',
      `${octets('ключ')}=1`,
    ]
    const headers = { 'content-type': 'text/html', 'set-cookie': cookies.map((cookie) => `${cookie}; Path=/`) }
    overHttps.answer({ loginPage: { ...html(goodPage), headers }, formSubmission: html('<input name="passcode">') })
    const sso = createSso({ authUrl, transport, tls: { ca: certificate.cert, maxVersion: 'TLSv1.3' } })
    const outcome = await sso.beginLogin({ identity: 'a@b.c', credential: 'x' })
    if (outcome.kind !== 'passcode-required') throw new Error('no passcode was asked for')
    overHttps.answer({ formSubmission: redirectToCallback() })
    overHttps.requests.length = 0
    await sso.completeLogin(JSON.parse(JSON.stringify(outcome.pending)), { passcode: '123456' })
    for (const index of [0, 1, 2]) expect(cookiesOf(overHttps, index).toSorted()).toEqual(cookies.toSorted())
  })

  it('are at most 50; one more is dropped, and a new value of one is not', async () => {
    const many = Array.from({ length: 80 }, (_, index) => `c${index}=1; Path=/`)
    const cookies = await sentBack([...many, 'c7=again; Path=/'])
    expect(cookies).toHaveLength(50)
    expect(cookies).toContain('c7=again')
  })

  const ofLength = (name: string, length: number, filling = 'x'): string => `${name}=`.padEnd(length, filling)

  it.each([
    [4096, 1],
    [4097, 0],
  ])('are at most 4 KiB each: of a header with %i bytes, %i', async (length, count) => {
    const attribute = '; Path=/'
    expect(await sentBack([ofLength('x', length - attribute.length) + attribute])).toHaveLength(count)
  })

  it.each([
    [12 * 1024, 4],
    [12 * 1024 + 1, 3],
  ])('are at most 12 KiB together: of a Cookie header with %i bytes, %i', async (bytes, count) => {
    // Each is followed by `; ` but for the last.
    const last = bytes - 3 * 4002
    const setCookies = [...['a', 'b', 'c'].map((name) => ofLength(name, 4000)), ofLength('d', last)]
    expect(await sentBack(setCookies)).toHaveLength(count)
    // A new value needs the room of the old one alone.
    const cookies = await sentBack([...setCookies.slice(0, 3), ofLength('d', 100), ofLength('d', last, 'y')])
    expect(cookies.at(-1)?.at(-1)).toBe(count === 4 ? 'y' : 'x')
  })

  it('go on after a trip through a pending login, with path and end', async () => {
    const { authUrl } = overHttp
    const headers = {
      'content-type': 'text/html',
      'set-cookie': ['sid=1', 'a=2; Path=/; Max-Age=600', `b=3; Path=${authorize}/mfa`],
    }
    overHttp.answer({
      loginPage: { ...html(goodPage), headers },
      formSubmission: html('<input name="passcode">'),
    })
    const outcome = await createSso({ authUrl }).beginLogin({ identity: 'a@b.c', credential: 'x' })
    if (outcome.kind !== 'passcode-required') throw new Error('no passcode was asked for')
    overHttp.requests.length = 0
    overHttp.answer({ formSubmission: redirectToCallback() })
    await createSso({ authUrl }).completeLogin(JSON.parse(JSON.stringify(outcome.pending)), { passcode: '123456' })
    const sent = overHttp.requests.map((_, index) => cookiesOf(overHttp, index).toSorted())
    expect(sent).toEqual([
      ['a=2', 'b=3', 'sid=1'],
      ['a=2', 'sid=1'],
      ['a=2', 'sid=1'],
    ])
  })

  it('keep their limits whatever is set (G4)', async () => {
    const attributes =
      '; Path=/|; Domain=127.0.0.1|; Domain=.com|; Domain=evil.example|; Max-Age=9|; Max-Age=-1|; Expires=Thu, 01 Jan 2099 00:00:00 GMT|; Secure|; HttpOnly|; SameSite=None|; Path=|;;|; Domain='
    const setCookie = fc
      .tuple(
        anyText({ maxLength: 30 }),
        fc.constantFrom('=', '', '==', ' = '),
        anyText({ maxLength: 60 }),
        fc.array(fc.constantFrom(...attributes.split('|')), { maxLength: 5 }),
      )
      // What a server can't write does not come.
      .map(([name, equals, value, more]) => (name + equals + value + more.join('')).replaceAll(/[^\x20-\x7e]/gu, ''))
    await fc.assert(
      fc.asyncProperty(fc.array(setCookie, { maxLength: 70 }), async (headers) => {
        const cookies = await sentBack(headers)
        expect(cookies.length).toBeLessThanOrEqual(50)
        expect(cookies.join('; ').length).toBeLessThanOrEqual(12 * 1024)
      }),
      { numRuns: runs(100) },
    )
  })
})
