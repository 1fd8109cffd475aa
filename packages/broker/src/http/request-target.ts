/**
 * What a request asks for. Beside `/token?a=b` it may say the whole address, `http://broker:8700/token?a=b`, as clients do that
 * take the broker for a proxy; a server has to understand both (RFC 9112 section 3.2.2).
 */
import type { IncomingMessage } from 'node:http'

export interface RequestTarget {
  /** With its query, as it was sent. */
  readonly url: string
  readonly path: string
  /** Behind the `?`. */
  readonly search: string
  /** Of a whole address: it counts beside the `Host`. */
  readonly host: string | undefined
}

export function requestTarget(request: Pick<IncomingMessage, 'url'>): RequestTarget {
  const { url: sent = '' } = request
  const [, host, rest = sent] = /^https?:\/\/([^/?]*)(.*)$/isu.exec(sent) ?? []
  const url = host === undefined || rest.startsWith('/') ? rest : `/${rest}`
  const [path = '', search = ''] = url.split(/\?(.*)/su)
  return { url, path, search, host }
}
