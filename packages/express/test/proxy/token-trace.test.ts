/** An access token that the owner API shows: it gets to no caller, however the answer is cut into pieces. */
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { ownerApiProxy, type OwnerApiProxy } from '../../src/index.ts'
import { rawRequest, sendRaw } from '../raw-http.ts'
import { type Listening, listen, type OwnerApi, startOwnerApi } from '../servers.ts'
import { account, token, tokensOf } from '../tokens.ts'

let ownerApi: OwnerApi
let proxy: OwnerApiProxy
let home: Listening
beforeAll(async () => {
  ownerApi = await startOwnerApi()
  proxy = ownerApiProxy({ target: ownerApi.url, tokens: await tokensOf(), account, authorize: true })
  home = await listen(proxy)
})
afterAll(async () => {
  for (const each of [home, proxy, ownerApi]) await each.close()
})

/** What the caller gets of an answer that the owner API sends in pieces. */
async function received(pieces: readonly Buffer[]): Promise<string> {
  ownerApi.answer((_seen, response) => {
    const rest = [...pieces]
    const next = (): void => {
      const piece = rest.shift()
      if (piece) response.write(piece, () => setImmediate(next))
      else response.end('THE END')
    }
    next()
  })
  return (await sendRaw(home.port, rawRequest('GET', '/api/1/vehicles'))).text
}

/** So many bytes at a time, over and over. */
function cut(text: string, sizes: readonly number[]): Buffer[] {
  const body = Buffer.from(text)
  const pieces: Buffer[] = []
  for (let at = 0, turn = 0; at < body.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1
    pieces.push(body.subarray(at, at + size))
    at += size
  }
  return pieces
}

const text = fc.string({ maxLength: 200 })
const sizes = fc.array(fc.integer({ min: 5, max: 400 }), { minLength: 1, maxLength: 5 })

it('a token in a body never arrives', async () => {
  await fc.assert(
    fc.asyncProperty(text, text, sizes, async (before, after, each) => {
      const arrived = await received(cut(before + token + after, each))
      expect(arrived).not.toContain(token.slice(-32))
      expect(arrived).not.toContain('THE END')
    }),
    { numRuns: 50 },
  )
})

it('a body arrives whole that only has the two halves of the token, apart', async () => {
  const halves = `${token.slice(0, -16)}-${token.slice(-16)}`
  await fc.assert(
    fc.asyncProperty(sizes, async (each) => {
      expect(await received(cut(halves, each))).toContain('THE END')
    }),
    { numRuns: 20 },
  )
})

it('a header that has the end of the token does not arrive', async () => {
  const shown = async (value: string): Promise<boolean> => {
    ownerApi.answer((_seen, response) => response.writeHead(200, { etag: `"${value}"` }).end('{}'))
    return (await sendRaw(home.port, rawRequest('GET', '/api/1/vehicles'))).head.includes('etag')
  }
  expect([await shown(token), await shown(token.slice(-32)), await shown('other')]).toEqual([false, false, true])
})

it('a token is not searched for that is so short that it would be found by chance', async () => {
  const short = ownerApiProxy({ target: ownerApi.url, tokens: await tokensOf('short'), account, authorize: true })
  const other = await listen(short)
  ownerApi.answer((_seen, response) => response.end('a short story'))
  expect(await (await fetch(`${other.url}/api/1/vehicles`)).text()).toBe('a short story')
  for (const each of [other, short]) await each.close()
})
