/**
 * The head of a request, and of its answer: all but the body.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'

export interface RequestHead {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
}

/** Is given the head of an answer, and its body, which is still to come. */
export type Respond = (status: number, headers: IncomingHttpHeaders, body: Readable) => void
