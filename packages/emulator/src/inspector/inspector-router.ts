/**
 * The inspector's part of `/_emulator`: its page, its events, the exchanges behind it, and logins to take away.
 */
import { Router, type Request, type RequestHandler } from 'express'
import { problemResponse } from '../control/problem.ts'
import type { Exchange } from '../journal/exchange.ts'
import type { Journal } from '../journal/journal.ts'
import { jsonResponse, sendResponse, type ServiceResponse } from '../http/service-response.ts'
import type { ServiceState } from '../service/service-state.ts'
import { eventStream } from './event-stream.ts'
import { exchangeDetail, exchangeLine } from './exchange-view.ts'
import { harOf } from './har.ts'
import { pageFile } from './inspector-page.ts'
import { liveState } from './live-state.ts'
import { sequenceDiagram } from './mermaid.ts'

/** Of one answer of `exchanges`: the next page is asked for with the last id. */
const pageSize = 1000

export function inspectorRouter(service: ServiceState, journal: Journal): Router {
  const router = Router()
  const asked = ({ params }: Request): Exchange | undefined =>
    journal.exchanges.find(({ id }) => String(id) === params['id'])
  const login = ({ params }: Request): readonly Exchange[] | undefined => {
    const exchanges = journal.exchanges.filter(({ flow }) => flow !== undefined && String(flow) === params['flow'])
    return exchanges.length > 0 ? exchanges : undefined
  }

  router.get(
    '/',
    respondWith(() => pageFile('index.html')),
  )
  router.get(
    '/assets/:file',
    respondWith((request) => pageFile(String(request.params['file']))),
  )
  router.get(
    '/events',
    eventStream(journal, () => liveState(service)),
  )
  router.get(
    '/exchanges',
    respondWith(({ query }) => {
      const after = Number(query['after'] ?? 0)
      const lines = journal.exchanges.filter(({ id }) => id > after).slice(0, pageSize)
      return jsonResponse(200, { exchanges: lines.map(exchangeLine) })
    }),
  )
  router.get(
    '/exchanges/:id',
    respondWith((request) => {
      const exchange = asked(request)
      return exchange && jsonResponse(200, exchangeDetail(exchange))
    }),
  )
  // A POST: nothing fetches it ahead of time, and a browser sends its Origin along.
  router.post(
    '/exchanges/:id/secrets',
    respondWith((request) => {
      const secrets = journal.secretsOf(Number(request.params['id']))
      return secrets && jsonResponse(200, secrets)
    }),
  )
  router.get(
    '/logins/:flow.har',
    respondWith((request) => {
      const exchanges = login(request)
      return exchanges && jsonResponse(200, harOf(exchanges), attachment(request, 'har'))
    }),
  )
  router.get(
    '/logins/:flow.mmd',
    respondWith((request) => {
      const exchanges = login(request)
      const headers = { 'content-type': 'text/plain; charset=utf-8', ...attachment(request, 'mmd') }
      return exchanges && { status: 200, headers, body: sequenceDiagram(exchanges) }
    }),
  )
  return router
}

function attachment({ params }: Request, extension: string): { readonly 'content-disposition': string } {
  return { 'content-disposition': `attachment; filename="login-${String(params['flow'])}.${extension}"` }
}

/** Sends what there is to send, or 404. */
function respondWith(to: (request: Request) => ServiceResponse | undefined): RequestHandler {
  return (request, response) =>
    sendResponse(response, to(request) ?? problemResponse(404, 'not_found', 'There is no such thing, or no longer'))
}
