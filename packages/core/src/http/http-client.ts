/**
 * The one file that knows axios: sends a request once, follows nothing, repeats nothing, and answers plain data.
 *
 * No AxiosError leaves it: one carries the password, the cookies and the tokens in its `config`, `request` and `response`.
 */
import http from 'node:http'
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http'
import https from 'node:https'
import { Axios, getAdapter } from 'axios'
import type { AxiosRequestConfig, AxiosResponse } from 'axios'
import { wrapper } from 'axios-cookiejar-support'
import type { CookieJar } from 'tough-cookie'
import { boundAnswer } from './answer-bounds.ts'
import type { Connection } from './connection.ts'
import type { InstanceCookies } from './cookie-jar.ts'

/** The most that is read of an answer's body, after decompression. The service's pages have about 8 KiB. */
const mostBodyBytes = 256 * 1024
const mostHeaderBytes = 16 * 1024

/** One request, ready to be sent. */
export interface HttpRequest {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** An answer, whatever its status. */
export interface HttpAnswer {
  readonly status: number
  /** A header's value by its name in lower case. */
  readonly header: (name: string) => string | undefined
  readonly body: string
}

/** How one request is sent: when it ends at the latest, and what runs on the open connection right before it is written. */
export interface Sending {
  readonly signal: AbortSignal
  /** Throwing keeps the request unsent, and the thrown error is the outcome. */
  readonly beforeWrite: () => void
}

export type HttpClient = (request: HttpRequest, sending: Sending) => Promise<HttpAnswer>

/** A request that got no answer, reduced to what holds no secret. `http-failure.ts` turns it into an error for callers. */
export interface BareFailure {
  readonly kind: 'no answer'
  /** A system code such as `ECONNRESET`, `ANSWER_TOO_LARGE`, or one of `answer-bounds.ts`. */
  readonly code: string | undefined
  readonly syscall: string | undefined
}

/** Tells a failed request from what `beforeWrite` threw. */
export function isBareFailure(thrown: unknown): thrown is BareFailure {
  return typeof thrown === 'object' && thrown !== null && Object.hasOwn(thrown, 'kind') && 'code' in thrown
}

/** @throws BareFailure (the returned function), or what `beforeWrite` threw */
export function createHttpClient(connection: Connection, cookies: InstanceCookies): HttpClient {
  const { httpAgent, httpsAgent } = connection
  const send = getAdapter('http')
  // Not axios.create(): that would take over what the application set on its own axios.defaults.
  const client = new Axios()
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its types name axios's CommonJS twin; it needs the interceptors alone
  wrapper(client as unknown as Parameters<typeof wrapper>[0])
  return async ({ method, url, headers, body }, { signal, beforeWrite }) => {
    const guard = { thrown: undefined as { error: unknown } | undefined }
    const config: AxiosRequestConfig<string> & { readonly jar: CookieJar } = {
      ...rules,
      method,
      url: url.href,
      headers,
      ...(body === undefined ? {} : { data: body }),
      signal,
      jar: cookies.jar,
      transport: nodeTransport((request) => {
        try {
          beforeWrite()
        } catch (error) {
          guard.thrown = { error }
          request.destroy()
        }
        boundAnswer(request, (code) => {
          guard.thrown = { error: { kind: 'no answer', code, syscall: undefined } satisfies BareFailure }
          request.destroy()
        })
      }),
      // The wrapper makes new agents for each request; the login's own connection takes their place.
      adapter: (wrapped) => send({ ...wrapped, httpAgent, httpsAgent }),
    }
    try {
      return plainAnswer(await client.request(config))
    } catch (error) {
      throw guard.thrown ? guard.thrown.error : bareFailure(error)
    }
  }
}

/**
 * What holds for every request, whatever is on `Object.prototype` or in the environment: no redirect is followed, no
 * proxy of axios's own, no credentials of its own, the body as text, and every status is an answer.
 */
const rules: AxiosRequestConfig<string> = {
  baseURL: '',
  allowAbsoluteUrls: true,
  maxRedirects: 0,
  maxContentLength: mostBodyBytes,
  maxBodyLength: mostBodyBytes,
  proxy: false,
  responseType: 'text',
  responseEncoding: 'utf8',
  decompress: true,
  validateStatus: () => true,
  transformRequest: [(data: unknown): unknown => data],
  transformResponse: [(data: unknown): unknown => data],
}

/** node:http with a limit on headers, telling when a request is about to be written on a connection that stands. */
function nodeTransport(aboutToWrite: (request: ClientRequest) => void): object {
  return {
    request(options: RequestOptions, respond: (answer: IncomingMessage) => void): ClientRequest {
      // Own values, so that nothing on Object.prototype is taken for an option.
      const own: RequestOptions = { ...unused, ...options, maxHeaderSize: mostHeaderBytes }
      const request = (options.protocol === 'https:' ? https : http).request(own, respond)
      // node:http emits this right before it writes what was buffered; destroying the request here leaves it unwritten.
      return request.once('socket', () => aboutToWrite(request))
    },
  }
}

const unused = {
  socketPath: undefined,
  localAddress: undefined,
  lookup: undefined,
  timeout: undefined,
  setHost: undefined,
  defaultPort: undefined,
  signal: undefined,
}

function plainAnswer({ status, headers, data }: AxiosResponse<string>): HttpAnswer {
  const plain = new Map(
    Object.entries(headers).map(([name, value]: [string, unknown]) => [name.toLowerCase(), String(value)]),
  )
  return { status, header: (name) => plain.get(name), body: data }
}

function bareFailure(error: unknown): BareFailure {
  const { code, syscall, message }: { code?: unknown; syscall?: unknown; message?: unknown } = error ?? {}
  const tooLarge = String(message).startsWith('maxContentLength')
  return { kind: 'no answer', code: tooLarge ? 'ANSWER_TOO_LARGE' : textOf(code), syscall: textOf(syscall) }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
