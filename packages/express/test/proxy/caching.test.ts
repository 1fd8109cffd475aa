import { afterEach, beforeEach, expect, it } from '@jest/globals'
import type { OutgoingHttpHeaders } from 'node:http'
import { ownerApiProxy, type OwnerApiProxy } from '../../src/index.ts'
import { type Listening, listen, type OwnerApi, startOwnerApi } from '../servers.ts'
import { account, tokensOf } from '../tokens.ts'

let ownerApi: OwnerApi
let proxy: OwnerApiProxy
let home: Listening
/** What the application sets before the proxy has its turn. */
let own: OutgoingHttpHeaders

beforeEach(async () => {
  ownerApi = await startOwnerApi()
  proxy = ownerApiProxy({ target: ownerApi.url, tokens: await tokensOf(), account, authorize: true })
  own = {}
  home = await listen((request, response) => {
    for (const [name, value] of Object.entries(own)) response.setHeader(name, value!)
    proxy(request, response)
  })
})
afterEach(async () => {
  await home.close()
  await proxy.close()
  await ownerApi.close()
})

async function headersAfter(
  upstream: Record<string, string | string[]>,
  app: OutgoingHttpHeaders = {},
): Promise<Headers> {
  own = app
  ownerApi.answer((_seen, response) => response.writeHead(200, upstream).end('{}'))
  const { headers } = await fetch(`${home.url}/api/1/vehicles`)
  return headers
}

it.each<[string | string[] | undefined, string]>([
  [undefined, 'private'],
  ['', 'private'],
  ['public', 'private'],
  ['public, max-age=60', 'private, max-age=60'],
  ['Public , MAX-AGE = 60', 'private, no-store'],
  ['s-maxage=600, max-age=60, must-revalidate', 'private, max-age=60, must-revalidate'],
  ['private="x"', 'private'],
  ['private="x, \\"public\\"", max-age="60"', 'private, no-store'],
  ['no-cache="set-cookie"', 'private, no-cache'],
  ['community="private", max-age=5', 'private, max-age=5'],
  ['x="private, no-store", public', 'private, no-store'],
  [['public', 'max-age=60'], 'private, max-age=60'],
  [['public, max-age=60', 'no-store'], 'private, no-store'],
  ['no-store, must-understand', 'private, no-store'],
  ['max-age=60, immutable, stale-while-revalidate=30', 'private, max-age=60'],
  ['max-age=soon', 'private, max-age=0'],
  ['max-age=5s', 'private, max-age=0'],
  ['max-age=-5', 'private, max-age=0'],
  [`max-age=${2 ** 31}`, `private, max-age=${2 ** 31}`],
  [`max-age=${2 ** 31 + 1}`, `private, max-age=${2 ** 31}`],
  ['private="x', 'private, no-store'],
  ['max-age=60; public', 'private, no-store'],
])('the owner API’s Cache-Control %j becomes %j', async (upstream, here) => {
  const headers = await headersAfter(upstream === undefined ? {} : { 'cache-control': upstream })
  expect(headers.get('cache-control')).toBe(here)
})

it.each<[upstream: string | undefined, app: string, here: string]>([
  ['public, max-age=600', 'no-store', 'private, no-store'],
  [undefined, 'no-store', 'private, no-store'],
  ['public, max-age=600', 'no-cache', 'private, max-age=600, no-cache'],
  ['max-age=600, immutable', 'private, max-age=60', 'private, max-age=60'],
  ['max-age=60', 'public, max-age=600', 'private, max-age=60'],
  ['no-store', 'public, max-age=600', 'private, no-store'],
])('the owner API’s Cache-Control %j and the application’s own %j become %j', async (upstream, app, here) => {
  const headers = await headersAfter(upstream === undefined ? {} : { 'cache-control': upstream }, {
    'cache-control': app,
  })
  expect(headers.get('cache-control')).toBe(here)
})

it('never sends Expires, which an old shared cache would go by: alone it keeps nothing fresh', async () => {
  const expires = new Date(Date.now() + 3_600_000).toUTCString()
  const lifetimeOf = async (upstream: Record<string, string>, app?: OutgoingHttpHeaders) => {
    const headers = await headersAfter(upstream, app)
    return [headers.get('cache-control'), headers.get('expires')]
  }
  expect(await lifetimeOf({ expires })).toEqual(['private, max-age=0', null])
  expect(await lifetimeOf({ expires, 'cache-control': 'max-age=5' })).toEqual(['private, max-age=5', null])
  expect(await lifetimeOf({ 'cache-control': 'max-age=5' }, { expires: '0' })).toEqual(['private, max-age=0', '0'])
})

it.each<[Record<string, string>, string]>([
  [{ 'cache-control': '@, max-age=5' }, 'private, no-store'],
  [{ 'cache-control': 'no-transform' }, 'private, no-transform'],
  [{ 'cache-control': 'stale-if-error=5' }, 'private'],
  [{ 'content-type': 'text/event-stream ; a' }, 'private, no-transform'],
  [{ 'content-type': 'text/event-streams' }, 'private'],
])('an answer with %j gets Cache-Control %s', async (upstream, here) => {
  expect((await headersAfter(upstream)).get('cache-control')).toBe(here)
})

it('removes headers that are for one kind of cache alone, such as CDN-Cache-Control', async () => {
  const targeted = {
    'CDN-Cache-Control': 'max-age=60',
    'Acme-CDN-Cache-Control': 'public',
    'Surrogate-Control': 'max-age=60',
  }
  const passed = await headersAfter(targeted)
  const set = await headersAfter({}, targeted)
  for (const name of Object.keys(targeted)) expect([passed.get(name), set.get(name)]).toEqual([null, 'no-store'])
})

it('keeps a header of the application whose name only resembles one of those', async () => {
  const names = ['x-surrogate-control', 'surrogate-control-x', 'x-edge-control', 'edge-controls', 'cdn-cache-control-x']
  const set = await headersAfter({}, Object.fromEntries(names.map((name) => [name, 'kept'])))
  expect(names.map((name) => set.get(name))).toEqual(names.map(() => 'kept'))
})

it('keeps what the application says an answer varies by', async () => {
  const headers = await headersAfter({ vary: 'Accept, origin' }, { vary: 'Origin, Cookie' })
  expect(headers.get('vary')).toBe('Origin, Cookie, Accept')
})
