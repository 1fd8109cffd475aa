/**
 * Server-sent events of the inspector: exchanges in batches, so that a storm of requests is a handful of events.
 */
import type { RequestHandler } from 'express'
import type { Exchange } from '../journal/exchange.ts'
import type { Journal } from '../journal/journal.ts'
import { exchangeLine } from './exchange-view.ts'

const batchMilliseconds = 100
/** Exchanges of one event: so many a page takes in without a stutter. */
const batchSize = 1000
const stateMilliseconds = 1000

/**
 * `reset`: all exchanges were forgotten, which also comes first; `exchange`: a list of exchanges that are new or changed;
 * `state`: what `state()` says, once a second.
 */
export function eventStream(journal: Journal, state: () => unknown): RequestHandler {
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
    const sendState = (): void => {
      if (!response.writableNeedDrain) send('state', state())
    }

    reset()
    for (const exchange of journal.exchanges) waiting.add(exchange)
    sendExchanges()
    sendState()
    const timers = [setInterval(sendExchanges, batchMilliseconds), setInterval(sendState, stateMilliseconds)]
    const unsubscribe = journal.subscribe((exchange) => (exchange ? waiting.add(exchange) : reset()))
    response.once('close', () => {
      unsubscribe()
      for (const timer of timers) clearInterval(timer)
    })
  }
}
