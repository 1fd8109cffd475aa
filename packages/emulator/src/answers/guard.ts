/**
 * Who may use `/_emulator`: this machine, under a loopback name, and no other site's page (which may link to the
 * inspector).
 */
import type { IncomingMessage } from 'node:http'
import { Router, type ErrorRequestHandler, type Request, type RequestHandler } from 'express'
import { connectionOf } from '../http/http2-bridge.ts'
import { isLoopback } from '../http/listeners.ts'
import { jsonResponse, sendResponse, type ServiceResponse } from '../http/service-response.ts'
import { mediaTypeOf } from '../http/service-request.ts'
import { statusOf } from './web-app.ts'

export const guard: RequestHandler = (request, response, next) => {
  const refusal = refusalOf(request)
  if (refusal === undefined) next()
  else void sendResponse(response, problemResponse(403, 'forbidden', refusal))
}

/** Lets a request through that changes nothing or carries JSON: what a page of another site can't send unasked. */
export const jsonOnly: RequestHandler = (request, response, next) => {
  if (isReading(request) || !hasBody(request) || mediaTypeOf(request) === 'application/json') next()
  else void sendResponse(response, problemResponse(415, 'unsupported_media_type', 'The body must be application/json'))
}

function refusalOf(request: Request): string | undefined {
  const { host = '', origin, 'sec-fetch-site': site } = request.headers
  // A name of somebody else's that resolves to this machine (DNS rebinding) makes their page same-origin.
  if (!isLoopback(hostName(host))) return 'The Host must be a loopback name or address'
  const scheme = connectionOf(request).tlsVersion === undefined ? 'http' : 'https'
  if (origin !== undefined && origin !== `${scheme}://${host}`) return 'The Origin must be the inspector itself'
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !followsLinkToPage(request)) {
    return 'Another site asked for this: open the address of the inspector by hand'
  }
  return undefined
}

/** A person clicked a link to the inspector's page. The page that has the link sees nothing of it, and can't frame it. */
function followsLinkToPage({ method, path, headers }: Request): boolean {
  return (
    method === 'GET' &&
    path === '/' &&
    headers['sec-fetch-mode'] === 'navigate' &&
    headers['sec-fetch-dest'] === 'document'
  )
}

function hostName(host: string): string {
  return host
    .toLowerCase()
    .replace(/:\d*$/u, '')
    .replace(/^\[(.*)\]$/u, '$1')
}

function isReading({ method }: IncomingMessage): boolean {
  return method === 'GET' || method === 'HEAD'
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

export function problemResponse(status: number, error: string, description: string): ServiceResponse {
  return jsonResponse(status, { error, error_description: description })
}

/** A body that Express could not read is the caller's mistake; anything else is ours. */
export const onProblem: ErrorRequestHandler = (error: unknown, _request, response, next) => {
  if (response.headersSent) {
    next(error)
    return
  }
  const status = statusOf(error)
  const [name, description] =
    status === 500 ? ['server_error', 'The emulator failed'] : ['invalid_request', 'The body could not be read']
  void sendResponse(response, problemResponse(status, name, description))
}

/** Paths of the `parts` are relative to `/_emulator`. Nothing here is logged, counted, challenged or corrupted. */
export function createControl(parts: readonly Router[]): Router {
  const control = Router()
  control.use(guard, jsonOnly, harmless, ...parts)
  control.use((_request, response) =>
    sendResponse(response, problemResponse(404, 'not_found', 'There is no such address of the inspector')),
  )
  control.use(onProblem)
  return control
}

/** Nothing here is taken for another type than it is, shown in another site's page, or named to another site. */
const harmless: RequestHandler = (_request, response, next) => {
  response.setHeader('x-content-type-options', 'nosniff')
  response.setHeader('cross-origin-resource-policy', 'same-origin')
  response.setHeader('referrer-policy', 'no-referrer')
  next()
}
