/**
 * A login as the text of a Mermaid `sequenceDiagram`: for a bug report, a README, a wiki.
 */
import type { Exchange, Place } from '../journal/exchange.ts'

const client = 'client'
const participantOf: ReadonlyMap<Place, { readonly id: string; readonly name: string }> = new Map([
  ['home', { id: 'service', name: 'SSO service' }],
  ['regional', { id: 'region', name: 'SSO service, other region' }],
  ['owner-api', { id: 'owner', name: 'Owner API' }],
])

export function sequenceDiagram(exchanges: readonly Exchange[]): string {
  const places = new Set<Place>(exchanges.map(({ place }) => place))
  const participants = [...participantOf].filter(([place]) => places.has(place))
  return [
    'sequenceDiagram',
    `    participant ${client} as Client`,
    ...participants.map(([, { id, name }]) => `    participant ${id} as ${name}`),
    ...exchanges.flatMap(linesOf).map((line) => `    ${line}`),
    '',
  ].join('\n')
}

function linesOf({ place, request, decision, fault, challenged, duration }: Exchange): string[] {
  const id = participantOf.get(place)?.id ?? place
  const { method, path, status } = request
  const lines = [`${client}->>${id}: ${text(`${method} ${path}`)}`]
  if (fault !== undefined) lines.push(`Note over ${id}: ${text(`fault: ${fault}`)}`)
  if (challenged) lines.push(`Note over ${id}: firewall`)
  if (status === undefined) return lines
  const why = decision === undefined ? '' : `: ${decision}`
  const time = `${Math.round(duration ?? 0)} ms`
  if (status === 0) return [...lines, `${id}--x${client}: ${text(`the connection was cut after ${time}${why}`)}`]
  return [...lines, `${id}-->>${client}: ${text(`${status} in ${time}${why}`)}`]
}

/** Mermaid ends a message at a semicolon or line break, begins a comment with `%%`, and takes markup: all by number. */
export function text(message: string): string {
  const line = message.replace(/\s+/gu, ' ').trim()
  return line.replace(/[^\p{L}\p{N} ./,:()_'’=&@?*-]/gu, (sign) => `#${sign.codePointAt(0)};`)
}
