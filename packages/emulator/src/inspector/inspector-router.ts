/**
 * The inspector's part of `/_emulator`: its page, its events, and the exchanges behind it.
 */
import { Router, type Request } from 'express'
import { problemResponse } from '../answers/problem.ts'
import { controlState, type Controlled } from '../control/state.ts'
import type { Journal } from '../journal/journal.ts'
import { jsonResponse, sendResponse, type ServiceResponse } from '../http/service-response.ts'
import { eventStream } from './event-stream.ts'
import { exchangeDetail, exchangeLine } from './exchange-view.ts'
import { pageFile } from './inspector-page.ts'

export function inspectorRouter(controlled: Controlled, journal: Journal): Router {
  const router = Router()
  /** Answers with what there is, or 404. */
  const serve = (method: 'get' | 'post', path: string, found: (name: string) => ServiceResponse | undefined): unknown =>
    router[method](path, ({ params }: Request, response) =>
      sendResponse(
        response,
        found(String(params['name'])) ?? problemResponse(404, 'not_found', 'There is no such thing, or no longer'),
      ),
    )

  router.get(
    '/events',
    eventStream(journal, () => controlState(controlled)),
  )
  serve('get', '/', () => pageFile('index.html'))
  serve('get', '/assets/:name', pageFile)
  serve('get', '/exchanges', () => jsonResponse(200, { exchanges: journal.exchanges.map(exchangeLine) }))
  serve('get', '/exchanges/:name', (id) => {
    const exchange = journal.exchanges.find((each) => String(each.id) === id)
    return exchange && jsonResponse(200, exchangeDetail(exchange))
  })
  // A POST: nothing fetches it ahead of time, and a browser sends its Origin along.
  serve('post', '/exchanges/:name/secrets', (id) => {
    const secrets = journal.secretsOf(Number(id))
    return secrets && jsonResponse(200, secrets)
  })
  return router
}
