/**
 * A body that is cut or filled up to a size, with a length that agrees: truncated and oversized answers.
 */
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { ServiceResponse } from '../http/service-response.ts'

/** `bytes` of the body; what is missing is spaces, which change neither JSON nor a page. */
export async function sizedResponse(reply: ServiceResponse, bytes: number): Promise<ServiceResponse> {
  const body = typeof reply.body === 'string' ? Buffer.from(reply.body) : await buffer(reply.body)
  const sized = Buffer.alloc(bytes, ' ')
  body.copy(sized)
  return { ...reply, headers: { ...reply.headers, 'content-length': String(bytes) }, body: Readable.from([sized]) }
}
