/**
 * `attachBearer`: the owner's token on the calls of an axios instance.
 *
 * It is put on in the adapter, below all interceptors and transforms: the token is in no configuration that the
 * application sees, and so in no AxiosError that it logs.
 */
import { SignedOutError } from '@owner-sso/core'
import { property } from '../property.ts'
import { tokenAfter } from '../rejected-token.ts'
import { type CallOptions, callSettings, checkedAddress } from './call-options.ts'

/** What is used of an axios instance. */
export interface AxiosLike {
  readonly defaults: object
  readonly create: (config: object) => { request(config: object): Promise<{ readonly status: number }> }
  getUri(config: object): string
}

interface Config {
  readonly data?: unknown
  readonly headers: { concat(...more: object[]): object }
}

/**
 * Every call of this instance carries a valid token of the account; a 401 is answered by one more call with the next token
 * where the body can be sent again. No redirect is followed: it would carry the token along.
 *
 * A call fails with what `tokens.getAccessToken` throws, and with a TypeError for an address that the token must not go to.
 *
 * @returns the same instance
 * @throws TypeError that names a wrong option
 */
export function attachBearer<Instance extends AxiosLike>(instance: Instance, options: CallOptions): Instance {
  if (typeof property(instance, 'create') !== 'function') {
    throw new TypeError('the first argument of attachBearer must be an axios instance')
  }
  const defaults = instance.defaults as { adapter?: unknown; baseURL?: string }
  const { tokens, accountOf, target } = callSettings(options, defaults.baseURL)
  const { adapter } = defaults
  /** Knows axios's own adapters by their names, and has none of the application's interceptors. */
  const inner = instance.create({ adapter })

  const send = (config: Config, token: string): Promise<{ readonly status: number }> =>
    inner
      .request({
        ...config,
        adapter,
        headers: config.headers.concat({ Authorization: `Bearer ${token}` }),
        maxRedirects: 0,
        // The outer instance has transformed the request, and will transform the answer.
        transformRequest: [],
        transformResponse: [],
      })
      .then(
        (response) => withoutToken(response, config),
        (error: unknown) => {
          throw withoutToken(error, config)
        },
      )

  defaults.adapter = async (config: Config): Promise<unknown> => {
    checkedAddress(instance.getUri(config), target)
    const account = await accountOf()
    if (account === undefined || account === '') throw new SignedOutError()
    const token = await tokens.getAccessToken(account)
    const first = send(config, token)
    const status = await first.then(
      (response) => response.status,
      (error: unknown) => property(property(error, 'response'), 'status'),
    )
    if (status !== 401) return first
    const next = await tokenAfter(tokens, account, token, isRepeatable(config.data))
    return next === undefined ? first : send(config, next)
  }
  return instance
}

/** Axios puts the configuration, and Node's request object, on whatever comes of a call: its response or its error. */
function withoutToken<Outcome>(outcome: Outcome, config: Config): Outcome {
  for (const part of [outcome, property(outcome, 'response')]) {
    if (typeof part !== 'object' || part === null) continue
    if ('config' in part) Reflect.set(part, 'config', config)
    Reflect.deleteProperty(part, 'request')
  }
  return outcome
}

/** Whether a body can be sent again: a stream is gone once it was sent. */
function isRepeatable(data: unknown): boolean {
  return typeof property(data, 'pipe') !== 'function' && !(data instanceof ReadableStream)
}
