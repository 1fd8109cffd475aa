/**
 * What `/_emulator` answers when it can't do what it was asked: JSON with the names of OAuth's errors.
 */
import type { ErrorRequestHandler } from 'express'
import { jsonResponse, sendResponse, type ServiceResponse } from '../http/service-response.ts'
import { statusOf } from './web-app.ts'

/** `description` names what is wrong, for a person. */
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
