/**
 * One call of the broker. Nothing is repeated or followed.
 */
import { request as plainRequest, type IncomingHttpHeaders, type RequestOptions } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { text } from 'node:stream/consumers'
import type { Address } from './address.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface CallOptions {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** There was no answer. Its message is for people. */
export class Unanswered extends Error {}

/** Milliseconds: more than any call of ours is kept waiting. */
const patience = 15_000

/** @throws Unanswered */
export async function call({ base, socketPath }: Address, path: string, options: CallOptions = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body = '' } = options
  const signal = AbortSignal.timeout(patience)
  const sent: RequestOptions = {
    method,
    agent: false,
    signal,
    headers: { ...(body !== '' && { 'content-length': Buffer.byteLength(body) }), ...headers },
    ...(socketPath !== undefined && { socketPath }),
  }
  const send = base.startsWith('https:') ? tlsRequest : plainRequest
  try {
    return await new Promise((resolve, reject) => {
      send(`${base}${path}`, sent, (answer) => {
        const { statusCode: status = 0, headers: received } = answer
        text(answer).then((whole) => resolve({ status, headers: received, body: whole }), reject)
      })
        .on('error', reject)
        // 101, which nobody asked for.
        .on('upgrade', (_answer, socket) => {
          socket.destroy()
          reject(new Error('The protocol was switched.'))
        })
        .end(body)
    })
  } catch (error) {
    throw new Unanswered(signal.aborted ? 'no answer in 15 seconds' : `no answer (${causeOf(error)})`, { cause: error })
  }
}

function causeOf(error: unknown): string {
  return String(Object(error).code ?? 'the connection broke')
}
