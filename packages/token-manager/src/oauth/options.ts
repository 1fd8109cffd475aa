/**
 * The options of `oauthIssuer`, checked once at the start.
 */
import { createPrivateKey, type JsonWebKey } from 'node:crypto'
import { proxyOf } from '../http/outbound-proxy.ts'
import { type TlsOptions, type Transport, transportOf } from '../http/transport.ts'
import { checkOptionNames } from '../support/known-options.ts'
import { mayCarrySecrets } from '../support/verification.ts'
import { whatCame } from '../support/what-came.ts'

/** Where the service is, and who asks. `clientId` is required, and one of `issuer` and `tokenUrl`. Addresses are https, or loopback. */
export interface OauthIssuerOptions {
  /** The issuer's identifier. Without `tokenUrl`, its metadata are fetched once: RFC 8414, else OpenID Connect Discovery. */
  readonly issuer?: string | undefined
  /** Address of the token endpoint. With it nothing is discovered. */
  readonly tokenUrl?: string | undefined
  /** Address of the authorization endpoint, for a sign-in; default the metadata's. */
  readonly authorizationUrl?: string | undefined
  /** Where a sign-in ends. */
  readonly redirectUri?: string | undefined
  readonly clientId: string
  readonly clientSecret?: string | undefined
  /** For `private_key_jwt`: PEM text, or a JWK with its `kid` and, where RSA is not RS256, its `alg`. */
  readonly privateKey?: string | JsonWebKey | undefined
  /** Default: `private_key_jwt` with a `privateKey`, `basic` with a `clientSecret` (`post` where the metadata list that alone), else `none`. */
  readonly clientAuthentication?: 'basic' | 'post' | 'none' | 'private_key_jwt' | undefined
  /** Asked for at a sign-in, separated by spaces. A refresh leaves it as it is. */
  readonly scope?: string | undefined
  /** Which API the tokens are for, where the service wants to know: sent with every request. */
  readonly audience?: string | undefined
  /** More parameters of each request to the token endpoint. */
  readonly parameters?: Readonly<Record<string, string>> | undefined
  /** Of the token endpoint's requests; default `form`, as RFC 6749 has it. */
  readonly encoding?: 'form' | 'json' | undefined
  /** Default TLS 1.2 and 1.3. Verification can't be turned off. */
  readonly tls?: TlsOptions | undefined
  /** An outbound proxy's address, for https alone. Environment variables for proxies are ignored. */
  readonly proxy?: string | undefined
}

/** What they come to. `authUrl` names issuer and client, with a mark between them: it is what token sets carry as `auth_url`. */
export interface OauthSettings extends Omit<OauthIssuerOptions, 'privateKey' | 'tls'> {
  readonly authUrl: string
  readonly privateKey: JsonWebKey | undefined
  readonly transport: Transport
  readonly proxy: string | undefined
}

const addresses = { issuer: true, tokenUrl: true, authorizationUrl: true } as const
const texts = { clientId: true, clientSecret: true, scope: true, audience: true, redirectUri: true } as const
const others = { privateKey: true, clientAuthentication: true, parameters: true, encoding: true } as const
const optionNames = { ...addresses, ...texts, ...others, tls: true, proxy: true } as const

export const clientMark = '#client='

/** @throws TypeError that names the option */
export function parseOauthOptions(options: OauthIssuerOptions): OauthSettings {
  checkOptionNames<OauthIssuerOptions>('oauthIssuer', options, optionNames)
  // Own properties alone: what somebody put on Object.prototype is not an option.
  const own: OauthIssuerOptions = Object.assign(Object.create(null), options)
  const { clientId, clientSecret, privateKey, redirectUri = 'none:', clientAuthentication: how = 'none', tls } = own
  for (const [name, value] of Object.entries(own).filter(([, given]) => given !== undefined)) {
    const isText = typeof value === 'string' && value !== ''
    check(isText || !(name in texts), `${name} must be a non-empty string${whatCame(value)}`)
    const must = `${name} must be an address with https, or http on a loopback host, without a user name and fragment`
    check(isEndpoint(value) || !(name in addresses), must)
  }
  const address = own.issuer ?? own.tokenUrl
  check(clientId !== undefined, 'clientId is not given')
  check(address !== undefined, 'issuer is not given, nor tokenUrl: one of them is needed')
  check(URL.canParse(redirectUri), 'redirectUri must be an address')
  check(['form', 'json', undefined].includes(own.encoding), "encoding must be 'form' or 'json'")
  const ways = ['none', 'basic', 'post', 'private_key_jwt']
  check(ways.includes(how), "clientAuthentication must be 'basic', 'post', 'none' or 'private_key_jwt'")
  const [needed, secret] = how === 'private_key_jwt' ? ['privateKey', privateKey] : ['clientSecret', clientSecret]
  check(how === 'none' || secret !== undefined, `clientAuthentication '${how}' needs ${needed}`)
  for (const text of Object.values(own.parameters ?? {}))
    check(typeof text === 'string', 'parameters must be an object of strings')
  return {
    ...own,
    authUrl: `${new URL(address).href}${clientMark}${encodeURIComponent(clientId)}`,
    privateKey: privateKey === undefined ? undefined : parsedKey(privateKey),
    transport: transportOf({ transport: { tls: { maxVersion: 'TLSv1.3' } }, tls }),
    proxy: proxyOf(own),
  }
}

/** Whether tokens may be sent to an address. */
export function isEndpoint(address: unknown): boolean {
  if (typeof address !== 'string' || !URL.canParse(address)) return false
  const url = new URL(address)
  return mayCarrySecrets(url) && url.username + url.password + url.hash === ''
}

function parsedKey(given: string | JsonWebKey): JsonWebKey {
  try {
    const key = createPrivateKey(typeof given === 'string' ? given : { key: given, format: 'jwk' })
    return { ...(typeof given === 'object' && given), ...key.export({ format: 'jwk' }) }
  } catch {
    // Not the system's error: it may quote the key.
    throw new TypeError('privateKey must be a private key, as PEM text or as a JWK')
  }
}

function check(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new TypeError(problem)
}
