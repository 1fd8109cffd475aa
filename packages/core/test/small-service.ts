/**
 * A service of a few lines that answers a plain login and a refresh, and of which a test replaces one answer by a hostile
 * one. The emulator is the faithful one; this one may lie.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { SecureContextOptions, TLSSocket } from 'node:tls'

export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly httpVersion: string
  /** The client's: it tells connections apart. */
  readonly port: number | undefined
}

export interface CannedAnswer {
  readonly status?: number
  readonly headers?: Record<string, string | string[]>
  readonly body?: string
}

type Answer = CannedAnswer | ((request: SeenRequest, response: ServerResponse, authUrl: string) => CannedAnswer | void)

/** The endpoints that can be replaced. */
export interface Answers {
  loginPage?: Answer
  formSubmission?: Answer
  token?: Answer
  factors?: Answer
  verify?: Answer
  backupCode?: Answer
}

export interface SmallService {
  readonly authUrl: string
  /** All connections that ever stood, in their order. */
  readonly connections: readonly { readonly tlsVersion: string | null; readonly resumed: boolean }[]
  readonly requests: SeenRequest[]
  /** Replaces answers from now on. */
  answer(answers: Answers): void
  close(): Promise<void>
}

export const goodPage = `<!doctype html><title>Sign in</title><form method="post">
  <input type="hidden" name="_csrf" value="csrf-1"><input type="hidden" name="transaction_id" value="t-1">
  <input name="identity"><input name="credential" type="password"></form>`

export const goodTokens = {
  access_token: 'small.access.token',
  refresh_token: 'small-refresh-token',
  token_type: 'Bearer',
  expires_in: 300,
}

export function html(body: string, status = 200): CannedAnswer {
  return { status, headers: { 'content-type': 'text/html; charset=utf-8' }, body }
}

export function json(body: unknown, status = 200): CannedAnswer {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/** The redirect that a genuine service answers the form with; parameters can be replaced or left out. */
export function redirectToCallback(change: Record<string, string | undefined> = {}): Answer {
  return (request, _response, authUrl) => {
    const asked = new URL(request.url, authUrl).searchParams
    const location = new URL(asked.get('redirect_uri') ?? `${authUrl}/void/callback`)
    const given = { code: 'code-1', state: asked.get('state') ?? '', issuer: authUrl, ...change }
    for (const [name, value] of Object.entries(given)) {
      if (value !== undefined) location.searchParams.set(name, value)
    }
    return { status: 302, headers: { location: location.href } }
  }
}

/** @param tls - speaks TLS, 1.2 and 1.3, and HTTP/2 and HTTP/1.1; with `ALPNProtocols` HTTP/1.1 alone */
export async function startSmallService(
  answers: Answers = {},
  tls?: SecureContextOptions & { readonly ALPNProtocols?: string[] },
  port = 0,
): Promise<SmallService> {
  const current: Required<Answers> = {
    loginPage: {
      ...html(goodPage),
      headers: { 'content-type': 'text/html', 'set-cookie': ['sid=session-1; Path=/; HttpOnly'] },
    },
    formSubmission: redirectToCallback(),
    token: json(goodTokens),
    factors: json({ data: [{ id: 'f-1', name: 'Device #1', factorType: 'token:software' }] }),
    verify: json({ data: { valid: true } }),
    backupCode: json({ data: { valid: true } }),
    ...answers,
  }
  const requests: SeenRequest[] = []
  const endpoints: Record<string, keyof Answers> = {
    'GET /oauth2/v3/authorize': 'loginPage',
    'POST /oauth2/v3/authorize': 'formSubmission',
    'POST /oauth2/v3/token': 'token',
    'GET /oauth2/v3/authorize/mfa/factors': 'factors',
    'POST /oauth2/v3/authorize/mfa/verify': 'verify',
    'POST /oauth2/v3/authorize/mfa/backupcodes/attempt': 'backupCode',
  }
  let authUrl = ''
  const sockets = new Set<Socket>()
  const connections: SmallService['connections'][number][] = []
  const respond = (incoming: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const { method = '', url = '', headers, httpVersion } = incoming
      const request = {
        method,
        url,
        headers,
        httpVersion,
        body: Buffer.concat(chunks).toString(),
        port: incoming.socket.remotePort,
      }
      requests.push(request)
      const endpoint = endpoints[`${method} ${url.split('?')[0]}`]
      const answer = endpoint ? current[endpoint] : { status: 404 }
      const given = typeof answer === 'function' ? answer(request, response, authUrl) : answer
      // Bytes: Node would write a text's headers as UTF-8 as well.
      if (given) response.writeHead(given.status ?? 200, given.headers).end(Buffer.from(given.body ?? ''))
    })
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- of both kinds of requests, what they have in common is used
  const server = !tls
    ? createServer(respond)
    : tls.ALPNProtocols
      ? createHttpsServer(tls, respond)
      : createSecureServer({ allowHTTP1: true, ...tls }, respond as never)
  server.on(tls ? 'secureConnection' : 'connection', (socket: Socket | TLSSocket) => {
    sockets.add(socket)
    const isTls = 'getProtocol' in socket
    connections.push({ tlsVersion: isTls ? socket.getProtocol() : null, resumed: isTls && socket.isSessionReused() })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a TCP server's address
  authUrl = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    authUrl,
    connections,
    requests,
    answer: (changed) => void Object.assign(current, changed),
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}
