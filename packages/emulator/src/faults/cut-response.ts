/**
 * An answer whose body is cut or filled up, or whose connection is cut in the middle of it or right after it.
 */
import { STATUS_CODES, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { ServiceResponse } from '../http/service-response.ts'

async function bytesOf({ body }: ServiceResponse): Promise<Buffer> {
  return typeof body === 'string' ? Buffer.from(body) : await buffer(body)
}

/** So many bytes of the body, with a length that agrees; what is missing is spaces, which change neither JSON nor a page. */
export async function sizedResponse(reply: ServiceResponse, bytes: number): Promise<ServiceResponse> {
  const sized = Buffer.alloc(bytes, ' ')
  const body = await bytesOf(reply)
  body.copy(sized)
  return { ...reply, headers: { ...reply.headers, 'content-length': String(bytes) }, body: Readable.from([sized]) }
}

/** Written to the bare socket. What was written reaches the client before the end of the connection does. */
export async function sendCut(
  response: ServerResponse,
  reply: ServiceResponse,
  where: 'mid-body' | 'after-body',
): Promise<void> {
  const { socket } = response
  if (!socket || socket.destroyed) return
  const body = await bytesOf(reply)
  const framing = { 'content-length': String(body.length), connection: 'close' }
  const headers = Object.entries({ ...response.getHeaders(), ...reply.headers, ...framing })
  const lines = headers.flatMap(([name, value]) => [value ?? []].flat().map((item) => `${name}: ${item}`))
  const head = [`HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? ''}`, ...lines, '', ''].join('\r\n')
  const sent = where === 'mid-body' ? body.subarray(0, body.length / 2) : body
  await new Promise((resolve) => void socket.write(Buffer.concat([Buffer.from(head), sent]), resolve))
  socket.destroy()
}
