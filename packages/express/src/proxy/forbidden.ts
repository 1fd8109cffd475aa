/**
 * A 403 whose body is kept until it is known what it is about. One that is long, or slow, is about the call.
 */
import { startTimeLimit } from '@owner-sso/core'
import type { IncomingHttpHeaders } from 'node:http'
import { longestRefusal, type Refusal, slowestRefusal } from '../refused-token.ts'

export interface Forbidden {
  readonly headers: IncomingHttpHeaders
  /** Keeps a piece. Returns whether it is still short. */
  readonly keep: (piece: Buffer) => boolean
  readonly pieces: readonly Buffer[]
  readonly refusal: () => Refusal
  /** No more of it comes, or is waited for. */
  readonly end: () => void
}

/** @param onSlow - called once it has lasted too long */
export function forbidden(headers: IncomingHttpHeaders, onSlow: () => void): Forbidden {
  const pieces: Buffer[] = []
  let bytes = 0
  return {
    headers,
    keep(piece) {
      pieces.push(piece)
      bytes += piece.length
      return bytes <= longestRefusal
    },
    pieces,
    end: startTimeLimit(slowestRefusal, onSlow),
    refusal: () => ({ challenge: headers['www-authenticate'], body: Buffer.concat(pieces).toString() }),
  }
}
