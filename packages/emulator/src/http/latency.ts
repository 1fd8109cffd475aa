/**
 * The standing delay before every answer: a slow service, or a slow way to it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { RequestHandler } from 'express'
import type { Settings } from '../options/options.ts'

export function latency(settings: Settings): RequestHandler {
  return async (_request, _response, next) => {
    if (settings.latency > 0) await sleep(settings.latency, undefined, { ref: false })
    next()
  }
}
