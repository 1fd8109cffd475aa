import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import { isBelow, isUnambiguous } from '../../src/proxy/request-path.ts'

it('takes a path of any names, encoded as browsers do it', () => {
  // A name of dots, or with what a browser leaves alone or what decodes to a separator, is not one of these.
  const name = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 10 })
    .filter((text) => !/[\p{Cc}\p{Cs}/\\.%;?#]/u.test(text.normalize('NFKC')) && !/^\.+$/u.test(text))
  fc.assert(
    fc.property(fc.array(name, { minLength: 1 }), (names) => {
      expect(isUnambiguous(`/${names.map(encodeURIComponent).join('/')}`)).toBe(true)
    }),
  )
})

it('refuses a path that does not begin at the root', () => {
  for (const path of ['', 'a', '?', '%2f']) expect(isUnambiguous(path)).toBe(false)
})

it('refuses every path that the URL standard would rewrite', () => {
  const piece = fc.constantFrom(
    'a',
    '.',
    '..',
    '%2e',
    '%2E',
    '/',
    '//',
    '\\',
    '%5c',
    '\t',
    '\n',
    ' ',
    '?',
    '#',
    'é',
    ';',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const path = `/${pieces.join('')}`
      expect(!isUnambiguous(path) || new URL(path, 'http://x').pathname === path).toBe(true)
    }),
    { numRuns: 5000 },
  )
})

it('refuses every encoded byte that means something to somebody', () => {
  const refused = Array.from({ length: 128 }, (_, byte) => byte).filter(
    (byte) => !isUnambiguous(`/a%${byte.toString(16).padStart(2, '0')}b`),
  )
  const controls = [...Array.from({ length: 32 }, (_, byte) => byte), 127]
  const separators = Array.from(Buffer.from('#%./;?\\'))
  expect(refused).toEqual([...controls, ...separators].toSorted((a, b) => a - b))
})

it('is quick with a path that is as long as a request can be', () => {
  const started = process.cpuUsage().user
  for (const path of [
    '/a'.repeat(8000),
    `/${'.'.repeat(16_000)}`,
    `/${'%41'.repeat(5000)}`,
    `/a${'%'.repeat(16_000)}`,
  ]) {
    isUnambiguous(path)
    isUnambiguous(`${path}\\`)
  }
  // A regular expression that backtracks would need hours; this is no measurement.
  expect(process.cpuUsage().user - started).toBeLessThan(5_000_000)
})

it.each([
  ['/api/1/x', ['/api/1/'], true],
  ['/api/1/', ['/api/1/'], true],
  ['/api/1', ['/api/1/'], false],
  ['/api/1', ['/api/1'], true],
  ['/api/1/x', ['/api/1'], true],
  ['/api/10', ['/api/1'], false],
  ['/x', ['/api/1/', '/x'], true],
  ['/anything', ['/'], true],
])('%s below %j: %s', (path, prefixes, expected) => {
  expect(isBelow(path, prefixes)).toBe(expected)
})
