/**
 * What happened, one exchange a request: what arrived, what was decided and why, what was answered, to which login it
 * belongs.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../service/clock.ts'
import { newExchange, type Exchange, type Place } from './exchange.ts'
import { createFlows } from './flows.ts'
import type { Fields } from './masking.ts'
import { createRecording, secretsOf, type ExchangeSecrets, type Recording } from './recording.ts'
import { createRequestReader, type LoggedRequest } from './request-log.ts'

const maxExchanges = 10_000
/** They are larger: of so many, what is behind their masks is kept. */
const maxSecrets = 500

export interface Journal {
  /** The last 10,000, oldest first. */
  readonly exchanges: readonly Exchange[]
  /** The requests alone. */
  readonly requests: readonly LoggedRequest[]
  open(request: IncomingMessage, response: ServerResponse, place: Place): void
  recordingOf(request: IncomingMessage): Recording
  /** What is behind the masks of an exchange, while it is kept. */
  secretsOf(id: number): ExchangeSecrets | undefined
  /** Tokens that were issued without a login begin one. */
  adopt(identity: string, tokens: Fields): void
  /** Calls back for each exchange that is new or changed, and with undefined when all were forgotten. */
  subscribe(listener: (exchange: Exchange | undefined) => void): () => void
  clear(): void
}

export function createJournal(clock: Clock): Journal {
  const exchanges: Exchange[] = []
  const requests: LoggedRequest[] = []
  const secrets = new Map<number, ExchangeSecrets>()
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
    secrets.delete(exchange.id - maxSecrets)
    if (exchanges.length <= maxExchanges) return
    exchanges.shift()
    requests.shift()
  }

  function open(request: IncomingMessage, response: ServerResponse, place: Place): void {
    const began = performance.now()
    const exchange = newExchange((lastId += 1), place, readRequest(request, clock.now()))
    const behind = secretsOf(request)
    secrets.set(exchange.id, behind)
    recordings.set(
      request,
      createRecording(request, exchange, behind, flows, () => tell(exchange)),
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
    exchanges,
    requests,
    open,
    recordingOf(request) {
      const recording = recordings.get(request)
      if (!recording) throw new Error('This request was never opened')
      return recording
    },
    secretsOf: (id) => secrets.get(id),
    adopt(identity, tokens) {
      const flow = flows.learn(undefined, {}, tokens)
      if (flow) flow.identity = identity
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    clear() {
      exchanges.length = 0
      requests.length = 0
      secrets.clear()
      flows.clear()
      for (const listener of listeners) listener(undefined)
    },
  }
}
