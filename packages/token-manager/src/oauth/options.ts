/**
 * The options of `oauthIssuer`, checked once at the start.
 */
import { createPrivateKey, type JsonWebKey } from 'node:crypto'
import { proxyOf } from '../http/tunnel.ts'
import { type TlsOptions, type Transport, transportOf } from '../http/transport.ts'
import { withClient } from '../issuer/client-mark.ts'
import { checkOptions, kinds, type OptionRow, type OptionRows, requireThat } from '../support/options.ts'
import { mayCarrySecrets } from '../support/addresses.ts'

/** Where the service is, and who asks. `clientId` is required, and one of `issuer` and `tokenUrl`. Addresses are https, or loopback. */
export interface OauthIssuerOptions {
  /** The issuer's identifier. Without `tokenUrl`, its metadata tell the rest: fetched once, RFC 8414 or OpenID Connect Discovery. */
  readonly issuer?: string | undefined
  /** Address of the token endpoint. With it nothing is discovered. */
  readonly tokenUrl?: string | undefined
  /** Address of the authorization endpoint, for a sign-in. Default: the metadata's. */
  readonly authorizationUrl?: string | undefined
  /** Where a sign-in with `createAuthorizationUrl` and `exchangeCode` ends. */
  readonly redirectUri?: string | undefined
  /** Who asks. */
  readonly clientId: string
  /** The client's secret, if it has one. */
  readonly clientSecret?: string | undefined
  /** For `private_key_jwt`: PEM text, or a JWK with its `kid` and, where RSA is not RS256, its `alg`. */
  readonly privateKey?: string | JsonWebKey | undefined
  /** `basic`, `post`, `none` or `private_key_jwt`. Default: by what is given, and `post` where the metadata list that alone. */
  readonly clientAuthentication?: 'basic' | 'post' | 'none' | 'private_key_jwt' | undefined
  /** Asked for at a sign-in, separated by spaces. A refresh leaves it as it is. */
  readonly scope?: string | undefined
  /** Which API the tokens are for, where the service wants to know: sent with every request. */
  readonly audience?: string | undefined
  /** More parameters of each request to the token endpoint. */
  readonly parameters?: Readonly<Record<string, string>> | undefined
  /** Of the token endpoint's requests: `form`, as RFC 6749 has it, or `json`. Default: `form`. */
  readonly encoding?: 'form' | 'json' | undefined
  /** `{ minVersion, maxVersion, ca, ciphers }`. Verification can't be turned off. Default: TLS 1.2 and 1.3. */
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

const endpoint: OptionRow = {
  must: 'an address with https, or http on a loopback host, without a user name and fragment',
  fits: isEndpoint,
}
const text: OptionRow = { must: 'a non-empty string', fits: (value) => typeof value === 'string' && value !== '' }
const texts: OptionRow = {
  must: 'an object of strings',
  fits: (value) =>
    typeof value === 'object' && value !== null && Object.values(value).every((each) => typeof each === 'string'),
}

const rows: OptionRows<OauthIssuerOptions> = {
  issuer: endpoint,
  tokenUrl: endpoint,
  authorizationUrl: endpoint,
  redirectUri: { must: 'an address', fits: (value) => typeof value === 'string' && URL.canParse(value) },
  clientId: kinds.required(text),
  clientSecret: text,
  privateKey: kinds.any,
  clientAuthentication: kinds.oneOf('basic', 'post', 'none', 'private_key_jwt'),
  scope: text,
  audience: text,
  parameters: texts,
  encoding: kinds.oneOf('form', 'json'),
  tls: kinds.any,
  proxy: kinds.any,
}

/** @throws TypeError that names the option */
export function parseOauthOptions(options: OauthIssuerOptions): OauthSettings {
  const own = checkOptions('oauthIssuer', options, rows)
  const { clientId, clientSecret, privateKey, clientAuthentication: how = 'none', tls } = own
  const address = own.issuer ?? own.tokenUrl
  requireThat(address !== undefined, 'issuer is not given, nor tokenUrl: one of them is needed')
  const [needed, secret] = how === 'private_key_jwt' ? ['privateKey', privateKey] : ['clientSecret', clientSecret]
  requireThat(how === 'none' || secret !== undefined, `clientAuthentication '${how}' needs ${needed}`)
  return {
    ...own,
    authUrl: withClient(new URL(address).href, clientId),
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
