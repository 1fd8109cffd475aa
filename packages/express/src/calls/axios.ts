/**
 * `attachBearer`: the owner's token on the calls of an axios instance.
 *
 * It is put on in the adapter, below all interceptors and transforms: the token is in no configuration that the
 * application sees, and in nothing that comes of a call.
 */
import { types } from 'node:util'
import { checkOptionNames, type Transport, whatCame } from '@owner-sso/core'
import { requireAccount } from '../account-source.ts'
import { property } from '../property.ts'
import { discard, isStream, shownConfig, shownError, shownResponse } from './axios-outcome.ts'
import { checkedAddress, type OwnerCallOptions, ownerCallOptionNames, parseOwnerCallOptions } from './options.ts'
import { connectionsFor, connectionsOf } from './connections.ts'
import { longestRefusal, type Refusal } from '../refused-token.ts'
import { ownerCaller, type Sent } from './owner-call.ts'

/** What is used of an axios instance. */
export interface AxiosLike {
  readonly defaults: object
  readonly create: (config: object) => { request(config: object): Promise<{ readonly status: number }> }
  getUri(config: object): string
}

interface Config {
  readonly [name: string]: unknown
  readonly headers: { concat(...more: object[]): object }
}

/**
 * Every call of this instance carries a valid token of the account; a refusal of it (401, or a 403 that is about the token) is
 * answered by one more call with the next token where there is one and the body can be sent again. No redirect is followed: it would carry the token along. A proxy of the environment is
 * not used; one that the configuration names gets a CONNECT, and sees nothing but the owner API's address. Plain http, which
 * is for this machine, takes none.
 *
 * A call fails with what `tokens.getAccessToken` throws, with `OwnerApiTokenRefusedError` in place of a 403 that is about the token and stays, `OwnerApiClosedError` in place of a 412 of a closed endpoint,
 * and with a TypeError for an address that the token must not go to or an agent that checks no certificates. The configuration on a response or an error is without agents, `transport`,
 * `fetchOptions`, `proxy` and a streamed body: they lead to the request, or hold a password.
 *
 * @returns the same instance
 * @throws TypeError that names a wrong option
 */
export function attachBearer<Instance extends AxiosLike>(instance: Instance, options: OwnerCallOptions): Instance {
  if (typeof property(instance, 'create') !== 'function') {
    throw new TypeError(`the first argument of attachBearer must be an axios instance${whatCame(instance)}`)
  }
  checkOptionNames('attachBearer', options, ownerCallOptionNames)
  const defaults = instance.defaults as { adapter?: unknown; baseURL?: string }
  const { tokens, accountOf, target, transport } = parseOwnerCallOptions(options, defaults.baseURL)
  const { adapter } = defaults
  /** Knows axios's own adapters by their names, and has none of the application's interceptors. */
  const inner = instance.create({ adapter })
  const send = senderOf(inner, { adapter, transport })
  const call = ownerCaller(tokens)
  defaults.adapter = async (config: Config): Promise<unknown> => {
    const url = checkedAddress(instance.getUri(config), target, property(config, 'httpsAgent'))
    const signal = signalOf(config)
    return call({
      account: requireAccount(await accountOf()),
      signal,
      // A stream is gone once it was sent.
      canRepeat: !isStream(config['data']) && !(config['data'] instanceof ReadableStream),
      send: (token) => send(url, config, token),
      async failed(error) {
        // The wait for a token was ended by the call's own signal: axios says so in its own words, and sends nothing.
        if (signal?.aborted) await inner.request(shownConfig(config))
        throw error
      },
    })
  }
  return instance
}

/** Sends a call once, with a token that nothing which comes of it shows. */
function senderOf(
  inner: ReturnType<AxiosLike['create']>,
  { adapter, transport }: { readonly adapter: unknown; readonly transport: Transport | undefined },
): (url: URL, config: Config, token: string) => Promise<Sent<unknown>> {
  const straight = connectionsOf(transport)
  return async (url, config, token) => {
    const shown = { config: shownConfig(config), token }
    // A TypeError about the connections is the caller's own, and holds nothing.
    const connections = connectionsFor(url, config, straight)
    const namesUserAgent = Object.keys(config.headers).some((name) => name.toLowerCase() === 'user-agent')
    const request = {
      ...config,
      ...connections,
      adapter,
      headers: config.headers.concat({
        ...(transport && !namesUserAgent && { 'User-Agent': transport.userAgent }),
        Authorization: `Bearer ${token}`,
      }),
      // The outer instance has transformed the request, and will transform the answer.
      transformRequest: [],
      transformResponse: [],
    }
    try {
      const answer = shownResponse(await inner.request(request), shown)
      return sentOf(answer, () => answer)
    } catch (thrown) {
      const error = shownError(thrown, shown)
      // axios throws for an answer that is no success, by default.
      return sentOf(property(error, 'response'), () => {
        throw error
      })
    }
  }
}

/** @param answer - none where no answer came */
function sentOf(answer: unknown, outcome: () => unknown): Sent<unknown> {
  const status = property(answer, 'status')
  return {
    status: typeof status === 'number' ? status : undefined,
    refusal: () => refusalIn(answer),
    answer: outcome,
    discard: () => discard(answer),
  }
}

/** What a 403 says. A body that the application reads as a stream stays unread. */
async function refusalIn(answer: unknown): Promise<Refusal> {
  const challenge = property(property(answer, 'headers'), 'www-authenticate')
  const body = await textOf(property(answer, 'data'))
  const isShort = body !== undefined && body.length <= longestRefusal
  return { challenge: typeof challenge === 'string' ? challenge : undefined, body: isShort ? body : undefined }
}

/** Of what axios makes of a body: its adapters differ. */
async function textOf(data: unknown): Promise<string | undefined> {
  if (typeof data === 'string') return data
  if (Buffer.isBuffer(data)) return data.toString()
  if (types.isAnyArrayBuffer(data)) return Buffer.from(data).toString()
  return data instanceof Blob ? data.text() : undefined
}

/** axios takes other objects for a signal, too; those end the call alone, and not the wait for its token. */
function signalOf({ signal }: Config): AbortSignal | undefined {
  return isSignal(signal) ? signal : undefined
}

/** By its shape: it may be of another realm. */
function isSignal(value: unknown): value is AbortSignal {
  return typeof property(value, 'aborted') === 'boolean' && typeof property(value, 'addEventListener') === 'function'
}
