/**
 * Real servers for the tests: an owner API that keeps what it was sent and answers as told, and whatever stands in front.
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'

export interface Listening {
  readonly server: Server
  readonly port: number
  readonly url: string
  close(): Promise<void>
}

/** A server on a free port of loopback. */
export async function listen(listener: RequestListener): Promise<Listening> {
  const server = createServer({ keepAliveTimeout: 60_000 }, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    server,
    port,
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A request as the owner API got it. */
export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

type Answering = (seen: SeenRequest, response: ServerResponse) => void

export interface OwnerApi extends Listening {
  readonly seen: SeenRequest[]
  /** Connections that were ever made. */
  readonly connections: () => number
  /** Replaces how it answers. */
  answer(how: Answering): void
}

const answerJson: Answering = (_seen, response) => {
  response.setHeader('content-type', 'application/json').end('{"response":[],"count":0}')
}

export async function startOwnerApi(): Promise<OwnerApi> {
  const seen: SeenRequest[] = []
  let how = answerJson
  let connections = 0
  const listening = await listen((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers, rawHeaders } = request
      const one = { method, url, headers, rawHeaders, body: Buffer.concat(chunks) }
      seen.push(one)
      how(one, response)
    })
  })
  listening.server.on('connection', () => (connections += 1))
  return {
    ...listening,
    seen,
    connections: () => connections,
    answer(next) {
      how = next
    },
  }
}

type Handler = (request: IncomingMessage, response: ServerResponse, next?: (error?: unknown) => void) => void

/** The two homes of the proxy, each with the path that it is mounted at. */
export const homes: readonly [name: string, mount: string, (handler: Handler) => Promise<Listening>][] = [
  ['a bare node:http server', '', (handler) => listen((request, response) => handler(request, response))],
  ['Express', '/owner-api', (handler) => listen(express().use('/owner-api', handler))],
]
