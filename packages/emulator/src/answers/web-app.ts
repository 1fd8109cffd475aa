/**
 * What both Express applications have in common: the banner, the journal, the latency, 404 for the unknown, no stack trace for anybody.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import express, { type ErrorRequestHandler, type Express, type Response, type Router } from 'express'
import type { IncomingMessage } from 'node:http'
import { banner } from '../http/listeners.ts'
import type { Journal } from '../journal/journal.ts'
import type { Place } from '../journal/exchange.ts'
import { noticePage } from '../pages/page.ts'
import { htmlResponse, sendResponse } from '../http/service-response.ts'
import type { EmulatorSettings } from '../options/check-options.ts'

/** `own` answers what is not the service's, before the journal sees the request. */
export function bareApp(
  settings: EmulatorSettings,
  journal: Journal,
  place: (request: IncomingMessage) => Place,
  own?: Router,
): Express {
  const app = express()
  app.disable('x-powered-by')
  app.use((_request, response, next) => {
    response.setHeader(banner, '1')
    response.setHeader('cache-control', 'no-store')
    next()
  })
  if (own) app.use(own)
  app.use((request, response, next) => {
    journal.open(request, response, place(request))
    next()
  })
  app.use(async (_request, _response, next) => {
    if (settings.latency > 0) await sleep(settings.latency, undefined, { ref: false })
    next()
  })
  return app
}

export function finishApp(app: Express): Express {
  app.use((_request, response) => notFound(response))
  app.use(onError)
  return app
}

export function notFound(response: Response): void {
  void sendResponse(response, htmlResponse(404, noticePage('Not found', 'There is no such page here.')))
}

const onError: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) {
    next(error)
    return
  }
  void sendResponse(
    response,
    htmlResponse(statusOf(error), noticePage('We could not read this', 'The request is not valid.')),
  )
}

/** Express and its body parser put the status of a client's mistake on the error. */
export function statusOf(error: unknown): number {
  const status = typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined
  return typeof status === 'number' && status >= 400 && status < 500 ? status : 500
}
