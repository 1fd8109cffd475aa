import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { anyText } from '../../../../tests/support/any-text.ts'
import { instanceCookies } from '../../src/http/cookie-jar.ts'
import { runs } from '../../../../tests/support/runs.ts'

const origin = 'https://auth.example.com'
const authorize = `${origin}/oauth2/v3/authorize`
const header = (cookies: ReturnType<typeof instanceCookies>, address = authorize): string =>
  cookies.jar
    .getCookiesSync(address)
    .map((cookie) => cookie.cookieString())
    .join('; ')

describe('the cookies of an instance (S23)', () => {
  it('come back to it, with the path they name', () => {
    const cookies = instanceCookies(origin)
    cookies.jar.setCookieSync('sid=1; Path=/oauth2/v3/authorize; HttpOnly', `${authorize}?client_id=a`)
    cookies.jar.setCookieSync('bm_sz=2', `${authorize}%3Fclient_id=a`)
    expect(header(cookies, `${authorize}%3Fstate=b`)).toBe('sid=1; bm_sz=2')
    expect(header(cookies, `${origin}/oauth2/v3/token`)).toBe('bm_sz=2')
    expect(header(cookies, `${origin}/other`)).toBe('')
  })

  it('are replaced by a later one of the same name, and end when they are told to', () => {
    const cookies = instanceCookies(origin)
    for (const value of ['sid=1; Path=/', 'sid=2; Path=/', 'gone=1; Path=/', 'gone=; Path=/; Max-Age=0'])
      cookies.jar.setCookieSync(value, authorize)
    expect(header(cookies)).toBe('sid=2')
  })

  it('are host-only, whatever domain they ask for, and Secure where they came over https', () => {
    const cookies = instanceCookies(origin)
    cookies.jar.setCookieSync('a=1; Domain=example.com; Path=/', authorize)
    cookies.jar.setCookieSync('b=1; Domain=evil.example; Path=/', authorize)
    expect(cookies.stored()).toEqual(['a=1; Path=/; Secure'])
  })

  it('are dropped where they break the promise of their names', () => {
    const cookies = instanceCookies(origin)
    for (const value of ['__Host-a=1; Path=/', '__Host-b=1; Path=/oauth2', '__Secure-c=1; Path=/'])
      cookies.jar.setCookieSync(value, authorize)
    expect(header(cookies)).toBe('__Host-a=1; __Secure-c=1')
    const loopback = instanceCookies('http://127.0.0.1')
    for (const name of ['__Host-a', '__Secure-c', 'd'])
      loopback.jar.setCookieSync(`${name}=1; Path=/`, 'http://127.0.0.1/')
    expect(header(loopback, 'http://127.0.0.1/')).toBe('d=1')
  })

  it('marked Secure do not travel over http, and those of the longest path come first where no agent sends them', () => {
    const loopback = instanceCookies('http://127.0.0.1')
    const url = new URL('http://127.0.0.1/oauth2/v3/token')
    loopback.keep(['a=1; Path=/', 'b=1; Path=/; Secure', 'a=2; Path=/oauth2'], url)
    expect(loopback.headerFor(url)).toBe('a=2; a=1')
  })

  it('are at most 50, of at most 4 KiB each, and 12 KiB together', () => {
    const many = instanceCookies(origin)
    for (let n = 0; n < 80; n += 1) many.jar.setCookieSync(`c${n}=1; Path=/`, authorize)
    expect(many.stored()).toHaveLength(50)
    many.jar.setCookieSync('c7=again; Path=/', authorize)
    expect(header(many)).toContain('c7=again')
    const large = instanceCookies(origin)
    large.jar.setCookieSync(`x=${'x'.repeat(5000)}`, authorize)
    expect(large.stored()).toEqual([])
    for (let n = 0; n < 10; n += 1) large.jar.setCookieSync(`l${n}=${'x'.repeat(4000)}; Path=/`, authorize)
    expect(header(large).length).toBeLessThanOrEqual(12 * 1024)
  })

  it.each([
    [4096, 1],
    [4097, 0],
  ])('a header of %i characters: %i cookies kept', (length, count) => {
    const cookies = instanceCookies(origin)
    cookies.jar.setCookieSync('x='.padEnd(length - '; Path=/'.length, 'x').concat('; Path=/'), authorize)
    expect(cookies.stored()).toHaveLength(count)
  })

  it.each([
    [12 * 1024, 4],
    [12 * 1024 + 1, 3],
  ])('a Cookie header of %i bytes would be: %i cookies kept', (bytes, count) => {
    const cookies = instanceCookies(origin)
    const set = (name: string, length: number): void => {
      cookies.jar.setCookieSync(`${name}=`.padEnd(length, 'x').concat('; Path=/'), authorize)
    }
    for (const name of ['a', 'b', 'c']) set(name, 4000)
    // Each is followed by `; ` but for the last.
    set('d', bytes - 3 * 4002)
    expect(cookies.stored()).toHaveLength(count)
    expect(header(cookies)).toHaveLength(count === 4 ? 12 * 1024 : 3 * 4000 + 2 * 2)
  })

  it('are replaced at the limit too: the new value needs the room of the old one alone', () => {
    const cookies = instanceCookies(origin)
    const set = (name: string, filling: string): void => {
      cookies.jar.setCookieSync(`${name}=`.padEnd(4080, filling).concat('; Path=/'), authorize)
    }
    for (const name of ['sid', 'b', 'c']) set(name, 'x')
    set('sid', 'y')
    expect(header(cookies)).toContain('sid=y')
    expect(cookies.stored()).toHaveLength(3)
  })

  it.each([
    [12 * 1024, 'y'],
    [12 * 1024 + 1, 'x'],
  ])('are replaced where the Cookie header would have %i bytes: the value is %s', (bytes, kept) => {
    const cookies = instanceCookies(origin)
    const set = (name: string, length: number, filling = 'x'): void => {
      cookies.jar.setCookieSync(`${name}=`.padEnd(length, filling).concat('; Path=/'), authorize)
    }
    for (const name of ['a', 'b', 'c']) set(name, 4000)
    set('d', 100)
    set('d', bytes - 3 * 4002, 'y')
    expect(header(cookies).at(-1)).toBe(kept)
  })

  it('survive being stored in a pending login, with path and end', () => {
    const cookies = instanceCookies(origin)
    for (const value of ['sid=1', 'a=2; Path=/; Max-Age=600', 'b=3; Path=/oauth2/v3/authorize/mfa'])
      cookies.jar.setCookieSync(value, authorize)
    const restored = instanceCookies(origin, cookies.stored())
    expect(header(restored, `${authorize}/mfa/verify`).split('; ').toSorted()).toEqual(['a=2', 'b=3', 'sid=1'])
    expect(header(restored, `${origin}/`)).toBe('a=2')
    expect(header(restored, origin)).toBe('a=2')
  })

  it('keep their limits and their host whatever is set (G4)', () => {
    const attribute = fc.constantFrom(
      '; Path=/',
      '; Domain=example.com',
      '; Domain=.com',
      '; Domain=evil.example',
      '; Max-Age=9',
      '; Max-Age=-1',
      '; Expires=Thu, 01 Jan 2099 00:00:00 GMT',
      '; Secure',
      '; HttpOnly',
      '; SameSite=None',
      '; Path=',
      ';;',
      '; Domain=',
    )
    const setCookie = fc
      .tuple(
        anyText({ maxLength: 30 }),
        fc.constantFrom('=', '', '==', ' = '),
        anyText({ maxLength: 60 }),
        fc.array(attribute, { maxLength: 5 }),
      )
      .map(([name, equals, value, attributes]) => name + equals + value + attributes.join(''))
    fc.assert(
      fc.property(fc.array(setCookie, { maxLength: 70 }), (headers) => {
        const cookies = instanceCookies(origin)
        for (const each of headers) cookies.jar.setCookieSync(each, authorize)
        expect(cookies.stored().length).toBeLessThanOrEqual(50)
        expect(header(cookies).length).toBeLessThanOrEqual(16 * 1024)
        expect(cookies.jar.getCookiesSync(authorize).every(({ hostOnly, secure }) => hostOnly === true && secure)).toBe(
          true,
        )
        instanceCookies(origin, cookies.stored())
      }),
      { numRuns: runs(300) },
    )
  })
})
