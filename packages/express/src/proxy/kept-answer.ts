/**
 * An answer that refuses the token, or may. Nothing of a 401 is read until it is known what becomes of it; of a 403 as much as that
 * takes.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { brotliDecompressSync, inflateSync, unzipSync } from 'node:zlib'
import { longestRefusal, type Refusal } from '../refused-token.ts'

export interface KeptAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** What has come of its body. */
  readonly pieces: Buffer[]
  isWhole: boolean
  /** The error that it ended with. */
  brokenBy?: Error
  /** Ends the wait for its end. */
  endWait?: () => void
}

/** Whether there is more of it than a refusal of a token has. */
export function isLong({ pieces }: KeptAnswer): boolean {
  return pieces.reduce((bytes, piece) => bytes + piece.length, 0) > longestRefusal
}

export function refusalIn({ headers, pieces }: KeptAnswer): Refusal {
  return {
    challenge: headers['www-authenticate'],
    body: textOf(Buffer.concat(pieces), headers['content-encoding']),
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
