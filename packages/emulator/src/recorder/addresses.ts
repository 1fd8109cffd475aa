/**
 * The addresses of a recorder or replay, and how they stand in the place of the service's.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { banner } from '../http/listeners.ts'

export type Swap = readonly [from: string, to: string]
export type InstanceName = 'home' | 'regional'

/** Two host names of one port on this machine, for the two instances of the service. */
export function ownAddresses(port: number): Readonly<Record<InstanceName, string>> {
  return { home: `http://127.0.0.1:${port}`, regional: `http://localhost:${port}` }
}

/** By the Host header; undefined for a name that is neither. */
export function instanceOf(
  { headers }: IncomingMessage,
  { home, regional }: Readonly<Record<InstanceName, string>>,
): InstanceName | undefined {
  const asked = `http://${headers.host?.toLowerCase() ?? ''}`
  if (asked === home) return 'home'
  return asked === regional ? 'regional' : undefined
}

/** How an address may be spelled: as it is, percent-encoded once or twice, with JSON's backslashes, with entities. */
const spellings: readonly ((address: string) => string)[] = [
  (address) => address,
  encodeURIComponent,
  (address) => encodeURIComponent(encodeURIComponent(address)),
  (address) => encodeURIComponent(address).replaceAll('%', '&#x25;'),
  (address) => address.replaceAll('/', String.raw`\/`),
  (address) => address.replaceAll(':', '&#x3a;').replaceAll('/', '&#x2f;'),
]

/** The text with each address replaced, in the spelling it had. A longer name or port that only begins like one is another. */
export function swapped(text: string, swaps: readonly Swap[]): string {
  const all = swaps.flatMap(([from, to]) => spellings.map((spelled) => [spelled(from), spelled(to)] as const))
  return all.reduce((result, [from, to]) => {
    const pattern = from.replaceAll(/[.[\]\\]/gu, String.raw`\$&`)
    return result.replaceAll(new RegExp(`${pattern}(?![\\w-]|\\.\\w)`, 'giu'), () => to)
  }, text)
}

/** A body with its addresses swapped, unless it is no text. */
export function swappedBody(body: Buffer, swaps: readonly Swap[]): Buffer {
  const text = body.toString('utf8')
  return Buffer.from(text).equals(body) ? Buffer.from(swapped(text, swaps)) : body
}

export const maxBodyBytes = 1024 * 1024

export function sendPlain(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', [banner]: '1' }).end(`${sentence}\n`)
}
