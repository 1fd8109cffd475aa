/**
 * Finds the access token in an answer that is on its way to the caller.
 */

/** Bytes at the end of a token that are looked for: without the end of its signature a token is worth nothing. */
const traceLength = 32

/** No real token is shorter than that; a text so short would be found by chance. */
const shortestTrace = 16

export interface TokenTrace {
  /** Whether a header's value has the token in it. */
  readonly inText: (text: string) => boolean
  /** Whether the body has, with this chunk as its next. */
  readonly inBody: (chunk: Buffer) => boolean
}

/**
 * Looks for one token in the whole body: a search runs at 8 GB/s. A body that is compressed or encoded is not decoded for it.
 */
export function tokenTrace(token: string): TokenTrace {
  if (token.length < shortestTrace) return { inText: () => false, inBody: () => false }
  const text = token.slice(-traceLength)
  const trace = Buffer.from(text, 'latin1')
  /** What came before, or at least its end. */
  let before: Buffer | undefined
  return {
    inText: (value) => value.includes(text),
    inBody(chunk) {
      // A token may begin in one chunk and end in the next.
      const seam = before && Buffer.concat([before.subarray(1 - trace.length), chunk.subarray(0, trace.length)])
      before = seam && chunk.length < trace.length ? seam : chunk
      return chunk.includes(trace) || seam?.includes(trace) === true
    },
  }
}
