/**
 * What happened, one exchange a request: what arrived, what was decided and why, what was answered, to which login it
 * belongs.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../state/clock.ts'
import { createRequestReader, newExchange, type Exchange, type LoggedRequest, type Place } from './exchange.ts'
import { createFlows } from './flows.ts'
import type { Fields } from './masking.ts'
import { createRecording, type Recording } from './recording.ts'

const maxExchanges = 10_000

export type Journal = ReturnType<typeof createJournal>

export function createJournal(clock: Clock) {
  /** The last 10,000, oldest first; and the requests alone. */
  const exchanges: Exchange[] = []
  const requests: LoggedRequest[] = []
  const flows = createFlows()
  const readRequest = createRequestReader()
  const recordings = new WeakMap<IncomingMessage, Recording>()
  const listeners = new Set<(exchange: Exchange | undefined) => void>()
  let lastId = 0

  function tell(exchange: Exchange): void {
    for (const listener of listeners) listener(exchange)
  }

  function add(exchange: Exchange): void {
    exchanges.push(exchange)
    requests.push(exchange.request)
    if (exchanges.length <= maxExchanges) return
    exchanges.shift()
    requests.shift()
  }

  function open(request: IncomingMessage, response: ServerResponse, place: Place): void {
    const began = performance.now()
    const exchange = newExchange((lastId += 1), place, readRequest(request, clock.now()))
    recordings.set(
      request,
      createRecording(request, exchange, flows, () => tell(exchange)),
    )
    add(exchange)
    tell(exchange)
    response.once('close', () => {
      exchange.request.status = response.headersSent ? response.statusCode : 0
      exchange.duration = performance.now() - began
      tell(exchange)
    })
  }

  return {
    exchanges: exchanges as readonly Exchange[],
    requests: requests as readonly LoggedRequest[],
    open,
    recordingOf(request: IncomingMessage): Recording {
      const recording = recordings.get(request)
      if (!recording) throw new Error('This request was never opened')
      return recording
    },
    /** Tokens that were issued without a login begin one. */
    adopt(identity: string, tokens: Fields): void {
      const flow = flows.learn(undefined, {}, tokens)
      if (flow) flow.identity = identity
    },
    /** Calls back for each exchange that is new or changed, and with undefined when all were forgotten. */
    subscribe(listener: (exchange: Exchange | undefined) => void): () => void {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    clear(): void {
      exchanges.length = 0
      requests.length = 0
      flows.clear()
      for (const listener of listeners) listener(undefined)
    },
  }
}
