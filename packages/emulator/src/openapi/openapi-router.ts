/**
 * `GET /_emulator/openapi.json`: the description, for whoever generates a client or wants to look.
 */
import { Router } from 'express'
import { jsonResponse, sendResponse } from '../http/service-response.ts'
import { openapiDescription } from './description.ts'
import type { Described } from './part.ts'

export function openapiRouter(service: Described): Router {
  const router = Router()
  router.get('/openapi.json', (_request, response) =>
    sendResponse(response, jsonResponse(200, openapiDescription(service))),
  )
  return router
}
