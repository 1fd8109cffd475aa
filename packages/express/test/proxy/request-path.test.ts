import { beforeAll, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { ownerApiProxy, type OwnerApiProxyOptions } from '../../src/index.ts'
import { listen, startOwnerApi } from '../servers.ts'
import { valid } from './valid-options.ts'

let options: OwnerApiProxyOptions
beforeAll(async () => {
  options = await valid()
})

/** Whether a path can be read in one way only: no other one may be offered. */
function isUnambiguous(path: string): boolean {
  try {
    ownerApiProxy({ ...options, paths: [path] })
    return true
  } catch (error) {
    if (String(error).startsWith('TypeError: paths must be an array of paths such as /api/1/; ')) return false
    throw error
  }
}

it('takes a path of any names, encoded as browsers do it', () => {
  // A name of dots, with what a browser leaves alone, with what decodes to a separator, or with a pattern's star is none.
  const name = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 10 })
    .filter((text) => !/[\p{Cc}\p{Cs}/\\.%;?#*]/u.test(text.normalize('NFKC')) && !/^\.+$/u.test(text))
  fc.assert(
    fc.property(fc.array(name, { minLength: 1 }), (names) => {
      expect(isUnambiguous(`/${names.map(encodeURIComponent).join('/')}`)).toBe(true)
    }),
  )
})

it('rejects a path that does not begin at the root', () => {
  for (const path of ['', 'a', '?', '%2f']) expect(isUnambiguous(path)).toBe(false)
})

it('rejects every path that the URL standard would rewrite', () => {
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

it('rejects every encoded byte that means something to somebody', () => {
  const rejected = Array.from({ length: 128 }, (_, byte) => byte).filter(
    (byte) => !isUnambiguous(`/a%${byte.toString(16).padStart(2, '0')}b`),
  )
  const controls = [...Array.from({ length: 32 }, (_, byte) => byte), 127]
  const separators = Array.from(Buffer.from('#%./;?\\'))
  expect(rejected).toEqual([...controls, ...separators].toSorted((a, b) => a - b))
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
  ['/api/1/x', ['/api/1/'], 200],
  ['/api/1/', ['/api/1/'], 200],
  ['/api/1', ['/api/1/'], 404],
  ['/api/1', ['/api/1'], 200],
  ['/api/1/x', ['/api/1'], 200],
  ['/api/10', ['/api/1'], 404],
  ['/x', ['/api/1/', '/x'], 200],
  ['/anything', ['/'], 200],
])('%s, where %j are offered, is answered with %i', async (path, paths, status) => {
  const ownerApi = await startOwnerApi()
  const proxy = ownerApiProxy({ ...options, target: ownerApi.url, paths })
  const home = await listen(proxy)
  const answer = await fetch(home.url + path)
  expect([answer.status, ownerApi.seen.length]).toEqual([status, status === 200 ? 1 : 0])
  for (const each of [home, proxy, ownerApi]) await each.close()
})
