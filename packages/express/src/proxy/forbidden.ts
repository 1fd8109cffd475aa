/**
 * A 403 whose body is kept until it is known what it is about. One that is long, or slow, is about the call.
 */
import { startTimeLimit } from '@owner-sso/core'
import type { IncomingHttpHeaders } from 'node:http'
import { brotliDecompressSync, inflateSync, unzipSync } from 'node:zlib'
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
    refusal: () => ({
      challenge: headers['www-authenticate'],
      body: textOf(Buffer.concat(pieces), headers['content-encoding']),
    }),
  }
}

/** The caller may have asked for a compressed answer. */
const decompressors = { gzip: unzipSync, 'x-gzip': unzipSync, deflate: inflateSync, br: brotliDecompressSync }

/** Nothing where it can't be read, or is long. */
function textOf(body: Buffer, encoding = 'identity'): string | undefined {
  const name = encoding.toLowerCase()
  if (name === 'identity') return body.toString()
  try {
    const decompress = Object.entries(decompressors).find(([each]) => each === name)?.[1]
    return decompress?.(body, { maxOutputLength: longestRefusal }).toString()
  } catch {
    return undefined
  }
}
