import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { instanceCookies } from '../../src/http/cookie-jar.ts'
import type { InstanceCookies } from '../../src/http/cookie-jar.ts'
import { runs } from '../runs.ts'

const origin = 'https://auth.example.com'
const authorize = `${origin}/oauth2/v3/authorize`
const header = (cookies: InstanceCookies, address = authorize): string => cookies.headerFor(new URL(address)) ?? ''
const set = (cookies: InstanceCookies, ...headers: string[]): void => cookies.keep(headers, new URL(authorize))

describe('the cookies of an instance (S23)', () => {
  it('come back to it, with the path they name', () => {
    const cookies = instanceCookies(origin)
    cookies.keep(['sid=1; Path=/oauth2/v3/authorize; HttpOnly', 'bm_sz=2'], new URL(`${authorize}?client_id=a`))
    expect(header(cookies, `${authorize}?state=b`)).toBe('sid=1; bm_sz=2')
    expect(header(cookies, `${origin}/oauth2/v3/token`)).toBe('bm_sz=2')
    expect(header(cookies, `${origin}/other`)).toBe('')
  })

  it('are replaced by a later one of the same name, and end when they are told to', () => {
    const cookies = instanceCookies(origin)
    set(cookies, 'sid=1; Path=/', 'sid=2; Path=/', 'gone=1; Path=/', 'gone=; Path=/; Max-Age=0')
    expect(header(cookies)).toBe('sid=2')
  })

  it('are host-only, whatever domain they ask for, and Secure where they came over https', () => {
    const cookies = instanceCookies(origin)
    set(cookies, 'a=1; Domain=example.com; Path=/')
    set(cookies, 'b=1; Domain=evil.example; Path=/')
    expect(cookies.stored()).toEqual(['a=1; Path=/; Secure'])
  })

  it('are at most 50, of at most 4 KiB each, and 12 KiB together', () => {
    const many = instanceCookies(origin)
    for (let n = 0; n < 80; n += 1) set(many, `c${n}=1; Path=/`)
    expect(many.stored()).toHaveLength(50)
    set(many, 'c7=again; Path=/')
    expect(header(many)).toContain('c7=again')
    const large = instanceCookies(origin)
    set(large, `x=${'x'.repeat(5000)}`)
    expect(large.stored()).toEqual([])
    for (let n = 0; n < 10; n += 1) set(large, `l${n}=${'x'.repeat(4000)}; Path=/`)
    expect(header(large).length).toBeLessThanOrEqual(12 * 1024)
  })

  it('survive being stored in a pending login, with path and end', () => {
    const cookies = instanceCookies(origin)
    set(cookies, 'sid=1', 'a=2; Path=/; Max-Age=600', 'b=3; Path=/oauth2/v3/authorize/mfa')
    const restored = instanceCookies(origin, cookies.stored())
    expect(header(restored, `${authorize}/mfa/verify`).split('; ').toSorted()).toEqual(['a=2', 'b=3', 'sid=1'])
    expect(header(restored, `${origin}/`)).toBe('a=2')
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
        fc.string({ unit: 'binary', maxLength: 30 }),
        fc.constantFrom('=', '', '==', ' = '),
        fc.string({ unit: 'binary', maxLength: 60 }),
        fc.array(attribute, { maxLength: 5 }),
      )
      .map(([name, equals, value, attributes]) => name + equals + value + attributes.join(''))
    fc.assert(
      fc.property(fc.array(setCookie, { maxLength: 70 }), (headers) => {
        const cookies = instanceCookies(origin)
        set(cookies, ...headers)
        expect(cookies.stored().length).toBeLessThanOrEqual(50)
        expect(header(cookies).length).toBeLessThanOrEqual(16 * 1024)
        for (const cookie of cookies.stored()) expect(cookie).toMatch(/; Secure/u)
        expect(cookies.stored().join()).not.toMatch(/; Domain/iu)
        instanceCookies(origin, cookies.stored())
      }),
      { numRuns: runs(300) },
    )
  })
})
