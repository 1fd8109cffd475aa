/**
 * `attachBearer`: the owner's token on the calls of an axios instance.
 *
 * Axios sends them with `ownerFetch`, which puts the token on: it is in no configuration, request or error of axios, and so in
 * nothing that an application logs of a call.
 */
import { checkOptions, kinds, whatCame } from '@owner-sso/core'
import { property } from '../property.ts'
import { ssoErrorIn } from '../answers/sso-error.ts'
import { ownerFetch, type OwnerFetchOptions } from './fetch.ts'
import { ownerCallRows } from './options.ts'

/** What is used of an axios instance. */
export interface AxiosLike {
  readonly defaults: object
  readonly interceptors: { readonly response: { use(done: undefined, failed: (error: unknown) => unknown): unknown } }
}

/** Whose token goes on the calls of an axios instance, where to, and how. */
export type AttachBearerOptions = Omit<OwnerFetchOptions, 'fetch'>

/**
 * Every call of this instance carries a valid token of the account; a refusal of it (401, or a 403 that is about the token) is
 * answered by one more call with the next token where there is one and the body can be sent again. No redirect is followed: it
 * would carry the token along. Connections are ours, as the options say: a proxy of the environment is not used.
 *
 * A call fails with what `tokens.getAccessToken` throws, with `OwnerApiTokenRefusedError` in place of a 403 that is about the token
 * and stays, `OwnerApiClosedError` in place of a 412 of a closed endpoint, and with a TypeError for an address that the token must
 * not go to.
 *
 * @returns the same instance. It uses axios's fetch adapter: a streamed answer is a `ReadableStream`.
 * @throws TypeError that names a wrong option, or what of the instance would not be used
 * @example
 * const http = attachBearer(axios.create({ baseURL: 'https://owner-api.example.com' }), { tokens, account })
 * const { data } = await http.get('/api/1/products')
 */
export function attachBearer<Instance extends AxiosLike>(instance: Instance, options: AttachBearerOptions): Instance {
  if (property(property(instance, 'interceptors'), 'response') === undefined) {
    throw new TypeError(`the first argument of attachBearer must be an axios instance${whatCame(instance)}`)
  }
  checkOptions('attachBearer', options, { ...ownerCallRows, proxy: kinds.any })
  const defaults: { baseURL?: string; env?: object } = instance.defaults
  for (const name of ['httpAgent', 'httpsAgent', 'proxy']) {
    if (!property(defaults, name)) continue
    throw new TypeError(`${name} of the axios instance would not be used: give attachBearer the option tls or proxy`)
  }
  const { target = defaults.baseURL } = options
  const send = ownerFetch({ ...options, target })
  Object.assign(defaults, {
    adapter: 'fetch',
    // Without a `Request` it hands over the body as it is, which can be sent again.
    env: { ...defaults.env, Request: null, fetch: options.transport === undefined ? send : asTransportSays(send) },
  })
  instance.interceptors.response.use(undefined, (error) => {
    throw ownErrorIn(error)
  })
  return instance
}

/** Axios names itself in the User-Agent where nobody else does. */
function asTransportSays(send: typeof fetch): typeof fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers)
    if (headers.get('user-agent')?.startsWith('axios/')) headers.delete('user-agent')
    return send(input, { ...init, headers })
  }
}

/** What axios has made an error of its own of: an error of ours, which the application knows. */
function ownErrorIn(error: unknown): unknown {
  const cause = property(error, 'cause')
  const isOurs = ssoErrorIn(cause) !== undefined || String(property(cause, 'code')).startsWith('ERR_OWNER_API_')
  return isOurs || cause instanceof TypeError ? cause : error
}
