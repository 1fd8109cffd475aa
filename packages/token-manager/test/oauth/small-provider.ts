/**
 * A token endpoint of a few lines, whose answers a test writes: the real provider is in tests/interop. This one may lie.
 */
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SeenRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
  /** A form's or a JSON body's members. */
  readonly parameters: Readonly<Record<string, string>>
}

export interface CannedAnswer {
  readonly status?: number
  readonly headers?: Record<string, string>
  /** Text as it stands; anything else as JSON. */
  readonly body?: unknown
}

type Answer = CannedAnswer | ((request: SeenRequest, response: ServerResponse) => CannedAnswer | undefined)

export interface SmallProvider {
  readonly url: string
  readonly tokenUrl: string
  /** Those of the token endpoint. */
  readonly requests: SeenRequest[]
  /** Those of everything else. */
  readonly paths: string[]
  /** The token endpoint's answer from now on. */
  answer: Answer
  /** What is at other paths. */
  readonly documents: Map<string, CannedAnswer>
  close(): Promise<void>
}

/** Rotates: `a1` and `r1`, then `a2` and `r2`. */
export function rotating(more: object = {}): Answer {
  let count = 0
  return () => {
    count += 1
    return {
      body: { access_token: `a${count}`, refresh_token: `r${count}`, token_type: 'Bearer', expires_in: 3600, ...more },
    }
  }
}

export async function startSmallProvider(): Promise<SmallProvider> {
  const requests: SeenRequest[] = []
  const paths: string[] = []
  const documents = new Map<string, CannedAnswer>()
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', () => {
        const path = incoming.url ?? ''
        const body = Buffer.concat(chunks).toString()
        const parameters = body.startsWith('{') ? JSON.parse(body) : Object.fromEntries(new URLSearchParams(body))
        const request = { path, headers: incoming.headers, body, parameters }
        const isToken = path.startsWith('/token')
        if (isToken) requests.push(request)
        else paths.push(path)
        const answer = isToken ? provider.answer : (documents.get(path) ?? { status: 404 })
        const given = typeof answer === 'function' ? answer(request, response) : answer
        if (given === undefined) return
        const text = typeof given.body === 'string' ? given.body : JSON.stringify(given.body ?? '')
        response.writeHead(given.status ?? 200, { 'content-type': 'application/json', ...given.headers }).end(text)
      })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server's address
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider: SmallProvider = {
    url,
    tokenUrl: `${url}/token`,
    requests,
    paths,
    answer: rotating(),
    documents,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
  return provider
}
