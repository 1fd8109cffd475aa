/**
 * The broker that is looked at, in the words of the protocol.
 */
import type { Address } from './address.ts'
import { type Answer, call, type CallOptions } from './call.ts'

export interface Broker {
  readonly isOnSocket: boolean
  readonly socketPath: string | undefined
  /** The key of a program that may have tokens of one account. */
  readonly key: string
  /** The key of a program that was let in once. */
  readonly revokedKey: string | undefined
  readonly call: (path: string, options?: CallOptions) => Promise<Answer>
  /** Refreshes as at the service. */
  readonly refresh: (refreshToken: string) => Promise<Answer>
  /** `POST /oauth2/v3/token` with a body of JSON. */
  readonly post: (body: string) => Promise<Answer>
  /** `GET /token` with the key. */
  readonly token: (search?: string, headers?: Readonly<Record<string, string>>) => Promise<Answer>
}

export interface Keys {
  readonly key: string
  readonly revokedKey: string | undefined
}

export function brokerAt(address: Address, keys: Keys): Broker {
  const post = (body: string): Promise<Answer> =>
    call(address, '/oauth2/v3/token', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return {
    ...keys,
    isOnSocket: address.socketPath !== undefined,
    socketPath: address.socketPath,
    call: (path, options) => call(address, path, options),
    post,
    refresh: (refreshToken) => post(JSON.stringify(refreshFields(refreshToken))),
    token: (search = '', headers = {}) =>
      call(address, `/token${search}`, { headers: { authorization: `Bearer ${keys.key}`, ...headers } }),
  }
}

/** The fields of endpoint 6. */
export function refreshFields(refresh_token: string): Record<string, string> {
  return {
    grant_type: 'refresh_token',
    client_id: 'ownerapi',
    refresh_token,
    scope: 'openid email offline_access',
  }
}
