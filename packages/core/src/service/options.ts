/**
 * The options of `createSso`, checked once at the start, with their defaults.
 */
import type { HttpContext, HttpSettings } from '../http/http-context.ts'
import { type Client, clientOf, type ClientSecret } from './client.ts'
import { type CodeChallengeEncoding, type ServiceName, serviceProfile } from './profiles.ts'
import {
  checkOptions,
  isLoopback,
  kinds,
  longestTimer,
  mayCarrySecrets,
  type OptionRows,
  proxyOf,
  type TlsOptions,
  type TransportOption,
  transportOf,
  verificationProblem,
  whatCame,
} from '@owner-sso/token-manager/support'

/** Where the service is, and how it is spoken to. Only `authUrl` is required. */
export interface SsoOptions {
  /** Base address of the SSO service: https, or http on a loopback host. */
  readonly authUrl: string
  /**
   * Base address of the token endpoint, where that is another host than the login page; with regions an object from an instance's
   * address to that of its token endpoint. Default: `authUrl`.
   *
   * Codes are exchanged and tokens refreshed there, and nothing else is sent to it. Instances that are not named have it at their own
   * address. `auth_url` of token sets goes on naming the instance, so this option can change later.
   */
  readonly tokenUrl?: string | Readonly<Record<string, string>> | undefined
  /**
   * Where a redirect may lead, in addition to hosts of `authUrl`'s own registrable domain. Default: `[]`.
   *
   * Loopback and IP addresses have no such domain: list them, with their port.
   */
  readonly regionalAuthUrls?: readonly string[] | undefined
  /**
   * Which kind of service it is: as the interface document has it, `'current'`, as people meet it today, or `'registered'`, for an
   * application of your own. Default: `'document'`.
   *
   * It settles `redirectUri`, `codeChallengeEncoding` and `transport` together, as far as they are not given, and what `vehicleList` is.
   */
  readonly service?: ServiceName | undefined
  /** The id of an application that was registered at the service; required with `service: 'registered'`, as the next two. */
  readonly clientId?: string | undefined
  /** Its secret, or a function that is asked for it at each request, such as `clientSecretIn(path, name)`. */
  readonly clientSecret?: ClientSecret | undefined
  /** Base address of the owner API of its region. Its tokens are good there alone, whatever proxy leads there. */
  readonly audience?: string | undefined
  /** What it asks the owner for, with spaces between. Default: the usual scopes, for reading and for commands. */
  readonly scope?: string | undefined
  /**
   * Where a login ends: never requested, only compared; may have an app's own scheme (`owner-app://auth/callback`). Default: by
   * `service`.
   *
   * `${authUrl}/void/callback` with `'document'`; with `'current'` the service's own scheme (`example://auth/callback` of
   * `https://auth.example.com`; `owner://auth/callback` of a loopback host or an IP address). Never changes with the region.
   */
  readonly redirectUri?: string | undefined
  /**
   * How the code challenge is made: `'hex-digest'` is the document's reference computation, `'raw-digest'` RFC 7636. Default: by
   * `service`.
   */
  readonly codeChallengeEncoding?: CodeChallengeEncoding | undefined
  /**
   * Seconds that an access token lives that does not say so itself, as a JWT does; or `'expires_in'`: that field, from 45 minutes up
   * to what a JWT says. Default: eight hours.
   *
   * A number is taken as it is. Of `expires_in`, 300 becomes 2,700, so that a field that means something else causes no storm of
   * refreshes.
   */
  readonly accessTokenLifetime?: number | 'expires_in' | undefined
  /**
   * TLS, HTTP/2 and the User-Agent of every request: a name, or `{ tls, http2, userAgent }`. Default: by `service`.
   *
   * `'document'`: TLS 1.2 and HTTP/1.1; `'tls13-http1'` (that of `service: 'current'`), `'modern'` (TLS 1.3 and HTTP/2), `'tls12-http2'`.
   */
  readonly transport?: TransportOption | undefined
  /** `transport.userAgent` in short, and before it. A browser-like one is a TypeError. Default: `owner-sso/<version>`. */
  readonly userAgent?: string | undefined
  /** `transport.tls` in short, and before it: `{ transport: 'modern', tls: { ca } }`. Verification can't be turned off. */
  readonly tls?: TlsOptions | undefined
  /** Milliseconds for one request and its answer. Default: 15,000. */
  readonly timeout?: number | undefined
  /** An outbound proxy's address, for https alone; `HTTP_PROXY` and the like are ignored. */
  readonly proxy?: string | undefined
  /** Seconds that every call to a host fails fast after a challenge page without a `Retry-After`. Default: 900. */
  readonly firewallCooldown?: number | undefined
}

/** {@link SsoOptions} with every default filled in and every address in one form. */
export interface SsoSettings extends HttpSettings {
  /** Origin of the home instance, without a trailing slash. */
  readonly authUrl: string
  /** Origins of the regional instances that were listed. */
  readonly regionalAuthUrls: readonly string[]
  /** Origins of token endpoints by the origin of their instance, where that is another. */
  readonly tokenUrls: ReadonlyMap<string, string>
  readonly redirectUri: string
  readonly codeChallengeEncoding: CodeChallengeEncoding
  readonly service: ServiceName
  /** Who asks. */
  readonly client: Client
  /** Path of the owner API that lists what an account has. */
  readonly vehicleList: string
  readonly accessTokenLifetime: number | 'expires_in' | undefined
}

/** What every step of the flow is handed. One for each `createSso`; nothing in it belongs to an account. */
export interface ServiceContext extends SsoSettings, HttpContext {}

/** All options of `createSso`, also for what takes them beside its own. */
export const ssoOptionRows: OptionRows<SsoOptions> = {
  authUrl: kinds.any,
  tokenUrl: kinds.any,
  regionalAuthUrls: { must: 'an array of addresses', fits: Array.isArray },
  service: kinds.any,
  // RFC 6749 appendices A.1 and A.4: visible characters.
  clientId: { must: 'text without spaces around it', fits: isVisibleText },
  clientSecret: { must: 'text, or a function', fits: (value) => ['string', 'function'].includes(typeof value) },
  audience: { must: 'an address', fits: (value) => isVisibleText(value) && URL.canParse(value) },
  scope: { must: 'words with spaces between', fits: isVisibleText },
  redirectUri: { must: 'an absolute address without a query, fragment or user name', fits: isRedirectUri },
  codeChallengeEncoding: kinds.oneOf('hex-digest', 'raw-digest'),
  accessTokenLifetime: {
    must: "seconds or 'expires_in'",
    fits: (value) => value === 'expires_in' || isPositive(value),
  },
  transport: kinds.any,
  userAgent: kinds.any,
  tls: kinds.any,
  timeout: {
    must: 'milliseconds, more than 0',
    fits: (value) => isPositive(value) && value <= longestTimer,
  },
  proxy: kinds.any,
  firewallCooldown: { must: 'seconds, more than 0', fits: isPositive },
}

/** @throws TypeError that names the option */
export function parseSsoOptions(options: SsoOptions): SsoSettings {
  const own = checkOptions('createSso', options, ssoOptionRows)
  // Mostly `process.env.OWNER_SSO_AUTH_URL`, in a terminal where that was forgotten.
  requireThat(own.authUrl !== undefined, 'authUrl is not given: set OWNER_SSO_AUTH_URL, if it comes from there')
  const authUrl = instanceOrigin('authUrl', own.authUrl)
  const regions = (own.regionalAuthUrls ?? []).map((url: unknown) => instanceOrigin('regionalAuthUrls', url))
  const { service = 'document' } = own
  const profile = serviceProfile(service)
  const client = clientOf(own)
  const { redirectUri = profile.redirectUri(authUrl), transport = profile.transport } = own
  const { codeChallengeEncoding = profile.codeChallengeEncoding, accessTokenLifetime } = own
  const { timeout = 15_000, firewallCooldown = 900 } = own
  return {
    authUrl,
    regionalAuthUrls: regions,
    tokenUrls: tokenUrlsOf(own.tokenUrl, authUrl, regions),
    redirectUri,
    codeChallengeEncoding,
    service,
    client,
    vehicleList: profile.vehicleList,
    accessTokenLifetime,
    transport: transportOf({ ...own, transport }),
    timeout,
    proxy: proxyOf(own),
    firewallCooldown,
  }
}

/** The option `tokenUrl`: each key is an instance that is named elsewhere, so that a mistyped one is told. */
function tokenUrlsOf(option: unknown, authUrl: string, regions: readonly string[]): ReadonlyMap<string, string> {
  if (option === undefined) return new Map()
  const isRecord = typeof option === 'object' && option !== null && !Array.isArray(option)
  requireThat(
    typeof option === 'string' || isRecord,
    'tokenUrl must be an address such as https://token.example.com, or an object from the address of an instance to that of its token endpoint',
  )
  const given: readonly (readonly [string, unknown])[] = isRecord ? Object.entries(option) : [[authUrl, option]]
  return new Map(
    given.map(([instance, address]) => {
      const origin = parsed(instance)?.origin
      requireThat(
        origin !== undefined && [authUrl, ...regions].includes(origin),
        `tokenUrl names ${JSON.stringify(instance)}, which is neither authUrl nor one of regionalAuthUrls`,
      )
      return [origin, instanceOrigin('tokenUrl', address)]
    }),
  )
}

/**
 * The option `tokenUrl` from text, as in an environment variable: an address, or an object in JSON. `createSso` checks the rest.
 *
 * @param where - what the text is, for the error
 * @throws TypeError for text that begins like JSON and is not
 */
export function tokenUrlFromText(text: string, where = 'tokenUrl'): NonNullable<SsoOptions['tokenUrl']> {
  if (!text.trimStart().startsWith('{')) return text.trim()
  try {
    return JSON.parse(text)
  } catch {
    throw new TypeError(
      `${where} must be an address, or JSON such as {"https://auth.example.com":"https://token.example.com"}`,
    )
  }
}

/** An instance's address as its origin. https, or http on a loopback host; no path, user name, query or fragment. */
function instanceOrigin(option: string, value: unknown): string {
  const url = typeof value === 'string' ? parsed(value) : undefined
  requireThat(url !== undefined, `${option} must be an address such as https://auth.example.com${cameInPlace(value)}`)
  requireThat(mayCarrySecrets(url), `${option} must begin with https:// (http:// is for loopback hosts only)`)
  requireThat(
    url.href === `${url.origin}/` && !url.hostname.endsWith('.'),
    `${option} must be a scheme, host and port without a path, query, fragment or user name`,
  )
  const unverified = verificationProblem(url)
  requireThat(unverified === undefined, `${option} ${unverified}`)
  return url.origin
}

function cameInPlace(value: unknown): string {
  return value instanceof URL ? '; a URL came: write url.origin' : whatCame(value)
}

function isRedirectUri(value: unknown): value is string {
  const url = typeof value === 'string' ? parsed(value) : undefined
  if (!url || /[\s\\?#]/u.test(String(value)) || url.username || url.password) return false
  // An app's own scheme is fine: the address is only ever compared, never requested by us.
  if (url.protocol === 'http:') return isLoopback(url)
  return !['javascript:', 'data:', 'blob:', 'file:', 'about:', 'vbscript:'].includes(url.protocol)
}

function isVisibleText(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/u.test(value)
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0
}

function parsed(value: string): URL | undefined {
  return URL.canParse(value) ? new URL(value) : undefined
}

function requireThat(condition: boolean, problem: string): asserts condition {
  if (!condition) throw new TypeError(problem)
}
