/**
 * The inspector's part of `/_emulator`: its page, its events, and the exchanges behind it.
 */
import { readFileSync } from 'node:fs'
import { Router, type Request, type RequestHandler } from 'express'
import type { Exchange, LoggedRequest } from '../journal/exchange.ts'
import type { Journal } from '../journal/journal.ts'
import { jsonResponse, sendResponse, type ServiceResponse } from '../http/service-response.ts'
import { problemResponse } from '../answers/guard.ts'

export function inspectorRouter(journal: Journal): Router {
  const router = Router()
  const serve = (path: string, found: (name: string) => ServiceResponse | undefined): unknown =>
    router.get(path, ({ params }: Request, response) =>
      sendResponse(
        response,
        found(String(params['name'])) ?? problemResponse(404, 'not_found', 'There is no such thing, or no longer'),
      ),
    )

  router.get('/events', eventStream(journal))
  serve('/', () => pageFile('index.html'))
  serve('/assets/:name', pageFile)
  serve('/exchanges', () => jsonResponse(200, { exchanges: journal.exchanges.map(exchangeLine) }))
  serve('/exchanges/:name', (id) => {
    const exchange = journal.exchanges.find((each) => String(each.id) === id)
    return exchange && jsonResponse(200, exchange)
  })
  return router
}

/** Beside the built code; from the sources, too. */
const folder = new URL('../../dist/inspector/page/', import.meta.url)
const types: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'inspector.js': 'text/javascript; charset=utf-8',
  'inspector.css': 'text/css; charset=utf-8',
}
const policy = [
  ["default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:"],
  ["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"],
].flat()
const pageHeaders = { 'content-security-policy': policy.join('; '), 'cross-origin-opener-policy': 'same-origin' }

/** The page and its two files, as the build left them, under a policy that lets it load nothing else; undefined for any other. */
function pageFile(name: string): ServiceResponse | undefined {
  const type = Object.hasOwn(types, name) ? types[name] : undefined
  if (type === undefined) return undefined
  return {
    status: 200,
    headers: { ...pageHeaders, 'content-type': type },
    body: readFileSync(new URL(name, folder), 'utf8'),
  }
}

const batchMilliseconds = 100
/** Exchanges of one event: so many a page takes in without a stutter. */
const batchSize = 1000

/**
 * Server-sent events: exchanges in batches, so that a storm of requests is a handful of events. `reset`: all exchanges were
 * forgotten, which also comes first; `exchange`: a list of exchanges that are new or changed.
 */
function eventStream(journal: Journal): RequestHandler {
  return (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
    const waiting = new Set<Exchange>()
    const send = (event: string, data: unknown): void => {
      response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)
    }
    const reset = (): void => {
      waiting.clear()
      send('reset', {})
    }
    // A client that doesn't keep up is waited for; what changes meanwhile is sent once.
    const sendExchanges = (): void => {
      if (waiting.size === 0 || response.writableNeedDrain) return
      const batch = [...waiting].slice(0, batchSize)
      for (const exchange of batch) waiting.delete(exchange)
      send('exchange', batch.map(exchangeLine))
    }

    reset()
    for (const exchange of journal.exchanges) waiting.add(exchange)
    sendExchanges()
    const timer = setInterval(sendExchanges, batchMilliseconds)
    const unsubscribe = journal.subscribe((exchange) => (exchange ? waiting.add(exchange) : reset()))
    response.once('close', () => {
      unsubscribe()
      clearInterval(timer)
    })
  }
}

export type ExchangeLine = Omit<Exchange, 'request' | 'answer'> & Pick<LoggedRequest, 'method' | 'path' | 'status'>

function exchangeLine(exchange: Exchange): ExchangeLine {
  const { request, answer: _, ...line } = exchange
  const { method, path, status } = request
  return { ...line, method, path: cut(path), status }
}

/** Anybody may ask for any path. */
function cut(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path
}
