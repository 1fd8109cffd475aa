/**
 * The one file that knows axios: sends a request once, follows no redirect, repeats nothing, and returns plain data.
 *
 * No AxiosError leaves it: one carries the password, the cookies and the tokens in its `config`, `request` and `response`.
 */
import { unlessAborted } from '@owner-sso/token-manager/support'
import { Axios, type AxiosRequestConfig, type AxiosResponse, getAdapter } from 'axios'
import { mostBodyBytes } from './answer-bounds.ts'
import { http1Transport, http2Transport, type RequestWatch } from './axios-transports.ts'
import type { Connection } from './connection.ts'
import type { CarriedCookies } from './cookie-agents.ts'
import type { AgentJar } from './cookie-jar.ts'
import type { AgreedTransport } from './http-context.ts'

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
  readonly beforeWrite: (agreed: AgreedTransport) => void
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

type RequestConfig = AxiosRequestConfig<string> & { readonly jar?: AgentJar | undefined }

// Not axios.create(): that would take over what the application set on its own axios.defaults. It keeps nothing of a request.
const client = new Axios()
const send = getAdapter('http')

/**
 * @param cookies - none for what is one request alone
 * @throws BareFailure (the returned function), or what `beforeWrite` threw
 */
export function createHttpClient(connection: Connection, cookies?: CarriedCookies): HttpClient {
  const { agent } = connection
  cookies?.admitJars(client)
  return async ({ method, url, headers, body }, { signal, beforeWrite }) => {
    let outcome: { readonly error: unknown } | undefined
    const watch: RequestWatch = {
      beforeWrite,
      onUnwritten: (error) => (outcome = { error }),
      onExcess: (code) => (outcome = { error: { kind: 'no answer', code, syscall: undefined } satisfies BareFailure }),
    }
    try {
      const http2 = connection.http2 && (await unlessAborted(connection.http2(), signal, outOfTime))
      // Over HTTP/1.1 an agent sends and keeps the cookies; HTTP/2 has none.
      const cookie = http2 && cookies?.headerFor(url)
      const request: RequestConfig = {
        method,
        url: url.href,
        headers: cookie === undefined ? headers : { ...headers, Cookie: cookie },
        ...(body !== undefined && { data: body }),
        signal,
        transport: http2 ? http2Transport(http2, watch) : http1Transport(watch),
        httpAgent: agent,
        httpsAgent: agent,
      }
      const answers: AxiosResponse<string>[] = []
      // axios itself gets the jar alone, which its wrapper wants to see; the agents that the wrapper makes are not used. The
      // request goes to the adapter directly: axios merges and copies a configuration several times, which takes as long as
      // sending it.
      const config: RequestConfig = {
        jar: http2 ? undefined : cookies?.jar,
        adapter: async () => {
          const answer = await send(Object.assign(Object.create(null), rules, request))
          answers.push(answer)
          return { ...answer, headers: {} }
        },
      }
      await client.request<string>(config)
      const [answer] = answers
      if (!answer) throw new Error('no answer')
      if (http2) cookies?.keep(answer.headers['set-cookie'] ?? [], url)
      return plainAnswer(answer)
    } catch (error) {
      throw outcome ? outcome.error : bareFailure(error)
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
}

const outOfTime = (): Error => new Error('aborted')

function plainAnswer({ status, headers, data }: AxiosResponse<string>): HttpAnswer {
  // Node names them in lower case.
  const header = (name: string): string | undefined =>
    Object.hasOwn(headers, name) ? String(headers[name]) : undefined
  return { status, header, body: data }
}

function bareFailure(error: unknown): BareFailure {
  const { code, message, cause }: { code?: unknown; message?: unknown; cause?: unknown } = error ?? {}
  // axios passes the code on, and keeps the rest of a system error as its cause.
  const { syscall }: { syscall?: unknown } = cause ?? error ?? {}
  const tooLarge = String(message).startsWith('maxContentLength')
  return { kind: 'no answer', code: tooLarge ? 'ANSWER_TOO_LARGE' : textOf(code), syscall: textOf(syscall) }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
