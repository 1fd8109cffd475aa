/**
 * The addresses of a recorder or replay, and how they stand in the place of the service's.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { banner } from '../http/loopback-listener.ts'

/** An address and what stands in its place. */
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

const percent = '(?:%(?:25)?|&#x25;|&#37;)'
/** The signs of an address, percent-encoded, as entities, or with JSON's backslash. */
const signSpellings: Readonly<Record<string, string>> = {
  ':': `:|${percent}3a|&#x3a;|&#58;|&colon;`,
  '/': String.raw`\\?/|${percent}2f|&#x2f;|&#47;|&sol;`,
  '.': String.raw`\.|${percent}2e|&#x2e;|&#46;|&period;`,
  '[': String.raw`\[|${percent}5b|&#x5b;|&#91;|&lbrack;`,
  ']': String.raw`\]|${percent}5d|&#x5d;|&#93;|&rbrack;`,
  '-': `-|${percent}2d|&#x2d;|&#45;`,
}

/** The text with each address replaced, in the spelling it had. A longer name or port that only begins like one is another. */
export function swapped(text: string, swaps: readonly Swap[]): string {
  return swaps.reduce((result, [from, to]) => {
    const signs: string[] = []
    const pattern = Array.from(from, (character) => {
      if (!Object.hasOwn(signSpellings, character)) return character
      if (signs.includes(character)) return `(?:\\${signs.indexOf(character) + 1})`
      signs.push(character)
      return `(${signSpellings[character]})`
    })
    return result.replaceAll(new RegExp(`${pattern.join('')}(?![\\w-]|\\.\\w)`, 'giu'), (_all, ...groups: unknown[]) =>
      Array.from(to, (character) => {
        const spelling = groups[signs.indexOf(character)]
        return typeof spelling === 'string' ? spelling : character
      }).join(''),
    )
  }, text)
}

/** A body with its addresses swapped, unless it is no text. */
export function swappedBody(body: Buffer, swaps: readonly Swap[]): Buffer {
  const text = body.toString('utf8')
  return Buffer.from(text).equals(body) ? Buffer.from(swapped(text, swaps)) : body
}

const maxBodyBytes = 1024 * 1024

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

/** Says something in words of our own, marked as ours. */
export function sendPlain(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', [banner]: '1' }).end(`${sentence}\n`)
}
