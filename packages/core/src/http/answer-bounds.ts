/**
 * What an answer may cost beside its body and its headers, which have limits of their own: interim answers before it, and
 * bytes on the wire that are no body, such as a chunk's extensions. Both are cheap to send without end.
 */
import type { ClientRequest } from 'node:http'

/** Interim answers (1xx). The service sends none. */
const mostInterim = 10
/** Bytes on the wire, headers and chunk sizes included: four times the largest body. */
const mostWireBytes = 1024 * 1024

/** Why an answer was given up. */
export type ExcessCode = 'TOO_MANY_INTERIM_ANSWERS' | 'ANSWER_TOO_LONG_ON_THE_WIRE'

/** Watches the answer to a request until its end. @param giveUp - called at most once; has to end the request */
export function boundAnswer(request: ClientRequest, giveUp: (code: ExcessCode) => void): void {
  let interim = 0
  let bytes = 0
  const count = (chunk: Buffer): void => {
    bytes += chunk.length
    if (bytes > mostWireBytes) stop('ANSWER_TOO_LONG_ON_THE_WIRE')
  }
  const countInterim = (): void => {
    interim += 1
    if (interim > mostInterim) stop('TOO_MANY_INTERIM_ANSWERS')
  }
  const { socket } = request
  const letGo = (): void => void socket?.off('data', count)
  const stop = (code: ExcessCode): void => {
    request.off('information', countInterim)
    letGo()
    giveUp(code)
  }
  request.on('information', countInterim).once('close', letGo)
  socket?.on('data', count)
}
