/**
 * What `attachBearer` and `ownerFetch` take: whose token, and where it may go.
 */
import {
  kinds,
  mayCarrySecrets,
  type OptionRows,
  type TlsOptions,
  type TransportOption,
  verificationProblem,
} from '@owner-sso/core'
import { type Tokens, tokensRow } from '../account-source.ts'
import { isBelow } from '../proxy/request-path.ts'

/** Whose token goes on the calls, and where to. */
export interface OwnerCallOptions {
  /** The token manager. */
  readonly tokens: Tokens
  /** The account's name, or a function that knows it within 30 seconds. */
  readonly account: string | (() => string | undefined | Promise<string | undefined>)
  /**
   * The owner API's address: the only origin that gets the token. Default: axios's `baseURL`, the variable
   * `OWNER_SSO_API_URL`, else any address that the calling code names: https, or http on a loopback host.
   */
  readonly target?: string | URL | undefined
  /**
   * TLS and User-Agent of the calls, in the words of `createSso`; of HTTP there is version 1.1 alone. Default: Node's own TLS
   * versions, and the User-Agent of what makes the call. Headers of the calling code come before it.
   */
  readonly transport?: TransportOption | undefined
  /** `transport.tls` in short, and before it. */
  readonly tls?: TlsOptions | undefined
}

/** All of them. */
export const ownerCallRows: OptionRows<OwnerCallOptions> = {
  tokens: tokensRow,
  account: kinds.any,
  target: kinds.any,
  transport: kinds.any,
  tls: kinds.any,
}

/** `.` and `..`, encoded too, as the URL standard reads them: they are gone once an address was parsed. */
const stepsElsewhere = /(?:^|[/\\])(?:\.|%2e){1,2}(?:[/\\]|$)/iu

/**
 * An address as it will be called. Looked at for every call: what the process may send can have changed since the last one.
 *
 * @throws TypeError where the token must not go there
 */
export function checkedAddress(address: string, target: URL | undefined): URL {
  if (!URL.canParse(address, target?.href))
    throw new TypeError('the address is relative, and there is no target to resolve it against')
  const [path = ''] = address.split(/[?#]/u)
  if (stepsElsewhere.test(path)) throw new TypeError('the address has dot segments, which lead to another path')
  const url = new URL(address, target)
  const basePath = target?.pathname.replace(/\/$/u, '') ?? ''
  if (!URL.canParse(address) && !isBelow(url.pathname, [`${basePath}/`])) {
    throw new TypeError(
      `the address ${path} leads to ${url.pathname}, past the path of target: write ${basePath}/…, or a target without a path`,
    )
  }
  if (target && url.origin !== target.origin) {
    throw new TypeError(`the owner’s token goes only to ${target.origin}, not to ${url.origin}`)
  }
  if (!mayCarrySecrets(url))
    throw new TypeError('the owner’s token is sent only over https (or http on a loopback host)')
  const unverified = verificationProblem(url)
  if (unverified !== undefined) throw new TypeError(`the address ${unverified}`)
  return url
}
