/**
 * Server-sent events of the inspector: exchanges in small batches, so that a storm of requests is a handful of events.
 */
import { randomUUID } from 'node:crypto'
import type { RequestHandler, Response } from 'express'
import type { Exchange } from '../journal/exchange.ts'
import type { Journal } from '../journal/journal.ts'
import { exchangeLine } from './exchange-view.ts'

const batchMilliseconds = 100
/** Of one event: what a page takes in without a stutter. */
const batchSize = 250
const stateMilliseconds = 1000

/**
 * `exchange`: a list of exchanges that are new or changed, oldest change first; `state`: what `state()` says, once a
 * second; `reset`: all exchanges were forgotten. A page that lost the connection gets what it missed.
 */
export function eventStream(journal: Journal, state: () => unknown): RequestHandler {
  // A page of an emulator that was started anew begins anew, too.
  const run = randomUUID()
  return (request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
    const [knownRun, known] = String(request.headers['last-event-id']).split('/')
    const waiting = new Map<number, Exchange>()
    let flushing: NodeJS.Timeout | undefined

    // In the order of their last change: what changes again moves to the end.
    const flush = (): void => {
      flushing = undefined
      const batch = [...firstOf(waiting, batchSize)]
      for (const { id } of batch) waiting.delete(id)
      const last = batch.at(-1)
      if (last) send(response, 'exchange', batch.map(exchangeLine), `${run}/${last.version}`)
      if (waiting.size > 0) schedule()
    }
    // A client that doesn't keep up is waited for; what changes meanwhile is sent once.
    const schedule = (): void => {
      if (flushing || response.writableNeedDrain) return
      flushing = setTimeout(flush, waiting.size > batchSize ? 0 : batchMilliseconds).unref()
    }
    response.on('drain', () => waiting.size > 0 && schedule())
    const add = (exchange: Exchange): void => {
      waiting.delete(exchange.id)
      waiting.set(exchange.id, exchange)
      schedule()
    }
    const reset = (): void => {
      waiting.clear()
      send(response, 'reset', {}, `${run}/0`)
    }

    const seen = knownRun === run ? Number(known) : 0
    if (seen === 0) reset()
    const missed = journal.exchanges.filter(({ version }) => version > seen)
    for (const exchange of missed.toSorted((one, other) => one.version - other.version))
      waiting.set(exchange.id, exchange)
    flush()

    const sendState = (): void => {
      if (!response.writableNeedDrain) send(response, 'state', state())
    }
    sendState()
    const ticking = setInterval(sendState, stateMilliseconds).unref()
    const unsubscribe = journal.subscribe((exchange) => (exchange ? add(exchange) : reset()))
    response.once('close', () => {
      unsubscribe()
      clearInterval(ticking)
      clearTimeout(flushing)
    })
  }
}

function* firstOf<Value>(values: ReadonlyMap<number, Value>, count: number): Generator<Value> {
  let left = count
  for (const value of values.values()) {
    if ((left -= 1) < 0) return
    yield value
  }
}

function send(response: Response, event: string, data: unknown, id?: string): void {
  response.write(`event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`)
}
