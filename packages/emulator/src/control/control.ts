/**
 * All of `/_emulator`: one guard in front, a router for each part behind it, JSON for what none of them knows.
 */
import { Router, type RequestHandler } from 'express'
import { sendResponse } from '../http/service-response.ts'
import { guard, jsonOnly } from '../answers/guard.ts'
import { onProblem, problemResponse } from '../answers/problem.ts'

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
