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

it.each<[upstream: string | string[] | undefined, app: string | undefined, here: string]>([
  [undefined, undefined, 'private, no-cache'],
  ['public, max-age=60', undefined, 'private, no-cache'],
  ['private="x"', undefined, 'private, no-cache'],
  [['public', 'max-age=60'], undefined, 'private, no-cache'],
  [['public, max-age=60', 'no-store'], undefined, 'private, no-store'],
  ['NO-STORE', undefined, 'private, no-store'],
  ['no-transform', undefined, 'private, no-cache, no-transform'],
  ['public, max-age=600', 'no-store', 'private, no-store'],
  [undefined, 'no-store', 'private, no-store'],
  ['no-store', 'public, max-age=600', 'private, no-store'],
  ['max-age=60', 'public, max-age=600', 'private, no-cache'],
])('the owner API’s Cache-Control %j and the application’s own %j become %j', async (upstream, app, here) => {
  const headers = await headersAfter(
    upstream === undefined ? {} : { 'cache-control': upstream },
    app === undefined ? {} : { 'cache-control': app },
  )
  expect(headers.get('cache-control')).toBe(here)
})

it('never sends Expires, which an old shared cache would go by', async () => {
  const headers = await headersAfter({ expires: new Date(Date.now() + 3_600_000).toUTCString() })
  expect([headers.get('cache-control'), headers.get('expires')]).toEqual(['private, no-cache', null])
})

it.each<[string, string]>([
  ['text/event-stream ; a', 'private, no-cache, no-transform'],
  ['text/event-streams', 'private, no-cache'],
])('an answer of type %j gets Cache-Control %s', async (type, here) => {
  expect((await headersAfter({ 'content-type': type })).get('cache-control')).toBe(here)
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
