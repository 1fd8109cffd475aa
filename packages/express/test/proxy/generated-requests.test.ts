import { afterAll, beforeAll, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { ownerApiProxy, type OwnerApiProxy } from '../../src/index.ts'
import { sendRaw } from '../raw-http.ts'
import { type Listening, listen, type OwnerApi, type SeenRequest, startOwnerApi } from '../servers.ts'
import { account, token, tokensOf } from '../tokens.ts'

/** Requests sent at once, and how often. */
const batch = 100
const batches = 100

let ownerApi: OwnerApi
let elsewhere: Listening
let strayRequests = 0
let proxy: OwnerApiProxy
let home: Listening

beforeAll(async () => {
  ownerApi = await startOwnerApi()
  // Every other answer shows the request's own headers, token and all, or redirects to a place with the token in it.
  ownerApi.answer((seen, response) => {
    const how = ownerApi.seen.length % 4
    if (how === 0) response.end(JSON.stringify(seen.rawHeaders))
    else if (how === 1) response.writeHead(302, { location: `/api/1/x?${token}`, 'set-cookie': `a=${token}` }).end()
    else response.end('{}')
  })
  elsewhere = await listen((_request, response) => {
    strayRequests += 1
    response.end()
  })
  proxy = ownerApiProxy({ target: ownerApi.url, tokens: await tokensOf(), account, authorize: true })
  home = await listen(proxy)
})
afterAll(async () => {
  await home.close()
  await proxy.close()
  await ownerApi.close()
  await elsewhere.close()
})

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('api', '1', 'vehicles', '2', 'secret', 'a b', 'é') },
  {
    weight: 6,
    arbitrary: fc.constantFrom('.', '..', '...', '%2e', '%2E%2e', '.%2e', '%252e%252e', '%c0%ae', '%ef%bc%8e'),
  },
  { weight: 2, arbitrary: fc.string({ maxLength: 6, unit: 'binary-ascii' }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 255 }).map((byte) => `%${byte.toString(16).padStart(2, '0')}`) },
)
const separator = fc.oneof(
  { weight: 8, arbitrary: fc.constant('/') },
  {
    weight: 3,
    arbitrary: fc.constantFrom('//', '\\', '%2f', '%5c', ';', '/;/', '%252f', '%ef%bc%8f', '?', '#', '@', ':', ''),
  },
)
const path = fc.tuple(
  fc.oneof({ weight: 4, arbitrary: fc.constant('/api/1') }, { weight: 1, arbitrary: fc.constant('') }),
  fc.array(fc.tuple(separator, piece), { maxLength: 6 }),
)
const requestTarget = fc
  .tuple(
    fc.constantFrom('', '', '', '', 'http://ELSEWHERE', '//ELSEWHERE', '@ELSEWHERE', 'http:', '/\\ELSEWHERE'),
    path,
  )
  .map(([prefix, [start, pieces]]) => prefix + start + pieces.flat().join(''))
const headerLine = fc.oneof(
  fc.constantFrom(
    'Authorization: Bearer CANARY',
    'Cookie: s=CANARY',
    'Proxy-Authorization: CANARY',
    'X-Forwarded-Host: ELSEWHERE, CANARY',
    'X-Forwarded-For: CANARY',
    'Forwarded: host=CANARY',
    'X-Original-URL: /CANARY',
    'Content-Length: 5',
    'Content-Length: 0',
    'Transfer-Encoding: chunked',
    'Transfer-Encoding: CANARY',
    'Connection: accept, range, CANARY',
    'Host: ELSEWHERE',
    'Upgrade: CANARY',
    'Expect: 100-continue',
    'Sec-Fetch-Site: same-origin',
    'Origin: http://CANARY',
    'Accept: application/json',
    'Range: bytes=0-1',
    'TE: CANARY',
  ),
  fc.tuple(fc.string({ maxLength: 8, unit: 'binary-ascii' })).map(([name]) => `${name}: CANARY`),
)
const request = fc.record({
  method: fc.oneof(
    { weight: 8, arbitrary: fc.constantFrom('GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'PATCH') },
    { weight: 1, arbitrary: fc.constantFrom('TRACE', 'CONNECT', 'OPTIONS', 'get', 'G ET', '\0') },
  ),
  target: requestTarget,
  lines: fc.array(headerLine, { maxLength: 4 }),
  body: fc.constantFrom('', '', 'hello', '5\r\nhello\r\n0\r\n\r\n', 'GET /api/1/next HTTP/1.1\r\nHost: x\r\n\r\n'),
})

/** Follows every request on its connection, and ends it: as the request that it is, or as what a body still lacked. */
const last = 'GET /end HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

/** As the most obliging of servers would read a path: decoded until nothing changes, backslashes and all. */
function mostObligingly(url: string): string {
  let decoded = url.split('?')[0] ?? ''
  let before = ''
  while (before !== decoded) {
    before = decoded
    decoded = decoded.replaceAll(/%[\da-f]{2}/giu, (hex) => Buffer.from(hex.slice(1), 'hex').toString('latin1'))
  }
  const folded = decoded
    .normalize('NFKC')
    .replaceAll('\\', '/')
    .replaceAll(/;[^/]*/gu, '')
  return new URL(folded, 'http://x').pathname
}

const allowedHeaders =
  /^(?:accept|accept-encoding|accept-language|authorization|cache-control|connection|content-(?:encoding|language|length|type)|host|if-.*|last-event-id|range|transfer-encoding|user-agent)$/u

function isInOrder({ url, headers, rawHeaders }: SeenRequest): boolean {
  return (
    mostObligingly(url).startsWith('/api/1/') &&
    headers.host === new URL(ownerApi.url).host &&
    headers.authorization === `Bearer ${token}` &&
    Object.keys(headers).every((name) => allowedHeaders.test(name)) &&
    !rawHeaders.some((text) => text.includes('CANARY') && !text.includes(token))
  )
}

it(`lets none of ${batch * batches} generated requests out of its paths, its origin or its header list, and no token back`, async () => {
  let answered = 0
  let forwarded = 0
  await fc.assert(
    fc.asyncProperty(fc.array(request, { minLength: batch, maxLength: batch }), async (requests) => {
      ownerApi.seen.length = 0
      strayRequests = 0
      const answers = await Promise.all(
        requests.map(({ method, target, lines, body }) => {
          const head = [`${method} ${target} HTTP/1.1`, 'Host: app.example.com', ...lines, '', body]
          return sendRaw(home.port, (head.join('\r\n') + last).replaceAll('ELSEWHERE', `127.0.0.1:${elsewhere.port}`))
        }),
      )
      answered += answers.filter(({ status }) => status > 0).length
      forwarded += ownerApi.seen.length
      expect(ownerApi.seen.filter((seen) => !isInOrder(seen)).map(({ url }) => url)).toEqual([])
      expect(answers.filter(({ text }) => text.includes('TOKEN-CANARY')).map(({ head }) => head)).toEqual([])
      expect(strayRequests).toBe(0)
    }),
    { numRuns: batches, endOnFailure: true },
  )
  // The generator is worth something only if both outcomes are common.
  expect(answered).toBeGreaterThan(batch * batches * 0.7)
  expect(forwarded).toBeGreaterThan(batch * batches * 0.02)
  expect(proxy.active()).toBe(0)
}, 120_000)
