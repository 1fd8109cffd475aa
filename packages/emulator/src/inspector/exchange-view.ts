/**
 * An exchange as the inspector's page gets it: a line for the lists, all of it (masked) for one that is looked at.
 */
import type { Exchange } from '../journal/exchange.ts'
import type { LoggedRequest } from '../journal/exchange.ts'

/** What the lists and the diagram show. */
export type ExchangeLine = Omit<Exchange, 'request' | 'answer'> &
  Pick<LoggedRequest, 'method' | 'path' | 'status' | 'at'>

/** One exchange, secrets masked. */
export interface ExchangeDetail
  extends ExchangeLine, Pick<LoggedRequest, 'host' | 'connection' | 'tlsVersion' | 'httpVersion'> {
  readonly request: Pick<LoggedRequest, 'query' | 'headers' | 'body'>
  readonly answer: Exchange['answer']
}

export function exchangeLine(exchange: Exchange): ExchangeLine {
  const { request, answer: _, ...line } = exchange
  const { method, path, status, at } = request
  return { ...line, method, path: cut(path), status, at }
}

export function exchangeDetail(exchange: Exchange): ExchangeDetail {
  const { host, connection, tlsVersion, httpVersion, query, headers, body } = exchange.request
  const line = { ...exchangeLine(exchange), host, connection, tlsVersion, httpVersion }
  return { ...line, request: { query, headers, body }, answer: exchange.answer }
}

/** Anybody may ask for any path. */
function cut(path: string): string {
  return path.length > 200 ? `${path.slice(0, 200)}…` : path
}
