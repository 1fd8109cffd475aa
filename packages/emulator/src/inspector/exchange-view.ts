/**
 * An exchange as the inspector's page gets it: a line for the lists, all of it (masked) for one that is looked at.
 */
import type { Exchange, Place } from '../journal/exchange.ts'

/** What the lists and the diagram show. */
export interface ExchangeLine {
  /** From 1, in the order of arrival. */
  readonly id: number
  /** A number for each login; undefined for a request that belongs to none. */
  readonly flow: number | undefined
  readonly identity: string | undefined
  readonly place: Place
  readonly endpoint: string | undefined
  readonly method: string
  readonly path: string
  /** Undefined until answered; 0 if the connection was cut. */
  readonly status: number | undefined
  /** Seconds since the epoch by the emulator's clock. */
  readonly at: number
  /** Milliseconds since the epoch by the machine's clock. */
  readonly started: number
  /** Milliseconds; undefined until answered. */
  readonly duration: number | undefined
  readonly decision: string | undefined
  /** What was asked for was refused, whatever the status. */
  readonly refused: boolean
  readonly fault: string | undefined
  /** The firewall's challenge page was the answer. */
  readonly challenged: boolean
}

/** One exchange, secrets masked. */
export interface ExchangeDetail extends ExchangeLine {
  readonly host: string
  readonly connection: number
  readonly tlsVersion: string | undefined
  readonly httpVersion: string
  readonly request: Pick<Exchange['request'], 'query' | 'headers' | 'body'>
  readonly answer: Exchange['answer']
}

export function exchangeLine(exchange: Exchange): ExchangeLine {
  const { request, answer: _, ...line } = exchange
  const { method, path, status, at } = request
  return { ...line, method, path: cut(path), status, at }
}

export function exchangeDetail(exchange: Exchange): ExchangeDetail {
  const { host, connection, tlsVersion, httpVersion, query, headers, body } = exchange.request
  const { answer } = exchange
  return {
    ...exchangeLine(exchange),
    host,
    connection,
    tlsVersion,
    httpVersion,
    request: { query, headers, body },
    answer,
  }
}

/** Anybody may ask for any path. */
function cut(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path
}
