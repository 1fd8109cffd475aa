/**
 * An answer that is cut short, drips, never ends or has a crowd of interim answers before it: written to the bare socket.
 */
import { STATUS_CODES, type ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Socket } from 'node:net'
import type { ServiceResponse } from '../http/service-response.ts'
import type { Fault } from './fault.ts'

/** Whether a fault corrupts the bytes of the response itself. */
export function isCorrupted({ drop, drip, endless, interim }: Fault): boolean {
  return drop !== undefined || drip !== undefined || endless === true || interim !== undefined
}

/** The connection is over afterwards, however it went. */
export async function sendCorrupted(response: ServerResponse, original: ServiceResponse, fault: Fault): Promise<void> {
  const { socket } = response
  if (!socket || socket.destroyed) return
  response.statusCode = original.status
  const body = typeof original.body === 'string' ? Buffer.from(original.body) : await buffer(original.body)
  const head = Buffer.from(headOf(response, original, fault.endless ? undefined : body.length))

  socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(fault.interim ?? 0))
  if (fault.drop === 'mid-headers') return cutAfter(socket, head.subarray(0, head.length / 2))
  if (fault.drop === 'mid-body') return cutAfter(socket, Buffer.concat([head, body.subarray(0, body.length / 2)]))
  if (fault.drop === 'after-body') return cutAfter(socket, Buffer.concat([head, body]))
  await trickle(socket, head, fault.dripFrom === 'headers' ? fault.drip : undefined)
  if (fault.endless) return flood(socket, fault.drip ?? 20)
  await trickle(socket, body, fault.drip)
  socket.end()
}

/** Without a length the body is chunked. */
function headOf(response: ServerResponse, { status, headers }: ServiceResponse, length: number | undefined): string {
  const framing = length === undefined ? { 'transfer-encoding': 'chunked' } : { 'content-length': String(length) }
  const all = { ...response.getHeaders(), ...headers, ...framing, connection: 'close' }
  const lines = Object.entries(all).flatMap(([name, value]) => [value ?? []].flat().map((item) => `${name}: ${item}`))
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`, ...lines, '', ''].join('\r\n')
}

/** What was written reaches the client before the reset does. */
function cutAfter(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    socket.write(bytes, () => {
      socket.destroy()
      resolve()
    })
  })
}

async function trickle(socket: Socket, bytes: Buffer, milliseconds: number | undefined): Promise<void> {
  if (milliseconds === undefined) {
    socket.write(bytes)
    return
  }
  for (const byte of bytes) {
    if (socket.destroyed) return
    socket.write(Buffer.of(byte))
    await sleep(milliseconds)
  }
}

async function flood(socket: Socket, milliseconds: number): Promise<void> {
  while (!socket.destroyed) {
    socket.write('1\r\n \r\n')
    await sleep(milliseconds)
  }
}
