/** No address leads anywhere but to a page of the portal. */
import { describe, expect, it } from '@jest/globals'
import { array, assert, constantFrom, oneof, property, string } from 'fast-check'
import { anyText } from '../../../tests/support/any-text.ts'
import { runs } from '../../../tests/support/runs.ts'
import { returnTo } from '../src/return-to.ts'

const portal = 'https://portal.example.com'

describe('returnTo (S57)', () => {
  it.each(['/', '/vehicles/1001', '/vehicles/1001?tab=state'])('keeps the path %s', (path) => {
    expect(returnTo(path)).toBe(path)
  })

  it.each([
    '//evil.example.com',
    '/\\evil.example.com',
    '\\\\evil.example.com',
    '/\t/evil.example.com',
    '/\n/evil.example.com',
    '/.//evil.example.com',
    '/vehicles/..//evil.example.com',
    'https://evil.example.com/',
    'javascript:alert(1)',
    'vehicles/1001',
    ' /vehicles/1001',
    '/vehicles/\u0000',
    '/\u2028/evil.example.com',
    '/\u202eevil',
    '/sign-in',
    '/sign-in/passcode',
    '/sign-out',
    `/${'x'.repeat(600)}`,
    '',
    undefined,
    ['/vehicles/1001'],
    { toString: () => '/vehicles/1001' },
  ])('takes the start page instead of %j', (value) => {
    expect(returnTo(value)).toBe('/')
  })

  it('stays on the portal whatever it is given, as a browser resolves it', () => {
    const piece = constantFrom(
      '/',
      '\\',
      '.',
      '..',
      '%2f',
      '%5c',
      '@',
      ':',
      '\t',
      '\r\n',
      '?',
      '#',
      'evil.example.com',
      'http',
    )
    const address = oneof(
      string(),
      anyText(),
      array(piece).map((pieces) => `/${pieces.join('')}`),
    )
    assert(
      property(address, (value) => {
        const target = returnTo(value)
        expect(target).toMatch(/^\/(?![/\\])/u)
        expect(new URL(target, portal).origin).toBe(portal)
      }),
      { numRuns: runs(1000) },
    )
  })
})
