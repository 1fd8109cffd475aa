import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import express, { type RequestHandler } from 'express'
import { createProxyMiddleware } from 'http-proxy-middleware'
import { ownerApiBearer } from '../src/index.ts'
import { type Listening, listen, type OwnerApi, startOwnerApi } from './servers.ts'
import { account, tokensOf } from './tokens.ts'

let ownerApi: OwnerApi
let home: Listening | undefined

beforeEach(async () => {
  ownerApi = await startOwnerApi()
})
afterEach(async () => {
  await home?.close()
  home = undefined
  await ownerApi.close()
})

/** The headers of an answer that a handler behind the bearer gives, with what the application had set in front of it. */
async function headersBehind(handler: RequestHandler, own: OutgoingHttpHeaders = {}): Promise<Headers> {
  const app = express().use((_request, response, next) => {
    response.set(own)
    next()
  })
  home = await listen(app.use(ownerApiBearer({ tokens: await tokensOf(), account }), handler))
  const answer = await fetch(`${home.url}/api/1/vehicles`)
  await answer.text()
  return answer.headers
}

describe('an answer of http-proxy-middleware with somebody’s token is never for a shared cache', () => {
  const behindProxy = (upstream: Record<string, string | string[]>, own?: OutgoingHttpHeaders): Promise<Headers> => {
    ownerApi.answer((_seen, response) => response.writeHead(200, upstream).end('{}'))
    return headersBehind(createProxyMiddleware({ target: ownerApi.url, changeOrigin: true }), own)
  }

  it.each<[string | string[] | undefined, string]>([
    [undefined, 'private, no-cache'],
    ['public, max-age=60', 'private, no-cache'],
    ['no-store', 'private, no-store'],
    [['public', 'max-age=60'], 'private, no-cache'],
  ])('Cache-Control %j of the owner API becomes %j', async (upstream, here) => {
    const headers = await behindProxy(upstream === undefined ? {} : { 'cache-control': upstream })
    expect(headers.get('cache-control')).toBe(here)
  })

  it('events are not held back by what compresses', async () => {
    const headers = await behindProxy({ 'content-type': 'text/event-stream' })
    expect(headers.get('cache-control')).toBe('private, no-cache, no-transform')
  })

  it('the application’s own no-store is kept', async () => {
    const headers = await behindProxy({ 'cache-control': 'public, max-age=60' }, { 'cache-control': 'no-store' })
    expect(headers.get('cache-control')).toBe('private, no-store')
  })

  it('Expires goes, and headers for shared caches become no-store', async () => {
    const headers = await behindProxy(
      {
        expires: new Date(Date.now() + 60_000).toUTCString(),
        'cdn-cache-control': 'max-age=600',
        'Surrogate-Control': 'max-age=600',
      },
      { 'edge-control': 'public' },
    )
    expect(headers.get('cache-control')).toBe('private, no-cache')
    expect(headers.has('expires')).toBe(false)
    for (const name of ['cdn-cache-control', 'surrogate-control', 'edge-control']) {
      expect([name, headers.get(name)]).toEqual([name, 'no-store'])
    }
  })
})

describe('an answer that a handler writes itself is never for a shared cache, however it writes its headers', () => {
  it.each<[string, (response: ServerResponse) => void]>([
    ['setHeader', (response) => response.setHeader('Cache-Control', 'public').end()],
    ['writeHead', (response) => response.writeHead(200, { 'Cache-Control': 'public' }).end()],
    ['writeHead with a phrase', (response) => response.writeHead(200, 'Fine', { 'Cache-Control': 'public' }).end()],
    ['writeHead with a list', (response) => response.writeHead(200, ['Cache-Control', 'public']).end()],
    [
      'flushHeaders',
      (response) => {
        response.setHeader('Cache-Control', 'public').flushHeaders()
        response.end()
      },
    ],
    ['a first piece of the body', (response) => response.write('{', () => response.end('}'))],
  ])('%s', async (_how, answer) => {
    const headers = await headersBehind((_request, response) => answer(response))
    expect(headers.get('cache-control')).toBe('private, no-cache')
  })
})
