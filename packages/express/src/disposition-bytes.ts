/**
 * The header `Content-Disposition` as it is, whoever writes it.
 *
 * Where the body's length is known before it, Node reads this header as UTF-8 and writes the low byte of each character: of `Ċ` that
 * is the end of a line, and what follows it would be a header of its own. A handler that passes on an answer of the owner API
 * may have it in any order.
 */
import type { ServerResponse } from 'node:http'
import onHeaders from 'on-headers'

/** @param response - whose headers are not written yet */
export function keepDispositionBytes(response: ServerResponse): void {
  onHeaders(response, () => {
    const length = response.getHeader('content-length')
    if (length === undefined || !response.hasHeader('content-disposition')) return
    response.removeHeader('content-length')
    response.setHeader('content-length', length)
    // Where `end(body)` writes the headers, it has noted the length already.
    Reflect.set(response, '_contentLength', null)
  })
}
