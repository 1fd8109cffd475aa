/**
 * What recorder and replay have in common: two host names of one port on this machine, for the two instances of the service.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { banner } from './listener.ts'

export type InstanceName = 'home' | 'regional'

export interface OwnAddresses {
  readonly addresses: Readonly<Record<InstanceName, string>>
  /** By the Host header; undefined for a name that is neither. */
  readonly instanceOf: (request: IncomingMessage) => InstanceName | undefined
}

export function ownAddresses(port: number): OwnAddresses {
  const addresses = { home: `http://127.0.0.1:${port}`, regional: `http://localhost:${port}` }
  return {
    addresses,
    instanceOf({ headers }) {
      const asked = `http://${headers.host?.toLowerCase() ?? ''}`
      if (asked === addresses.home) return 'home'
      return asked === addresses.regional ? 'regional' : undefined
    },
  }
}

/** The whole body, or undefined if it is too large. */
export async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue
    length += chunk.length
    if (length <= maxBodyBytes) chunks.push(chunk)
  }
  return length <= maxBodyBytes ? Buffer.concat(chunks) : undefined
}

const maxBodyBytes = 1024 * 1024

/** Says something in words of our own, marked as ours. */
export function sendPlain(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', [banner]: '1' }).end(`${sentence}\n`)
}
