/**
 * The options of `createSso`, checked once at the start, with their defaults.
 */
import type { CodeChallengeEncoding, SsoOptions } from './sso.ts'
import type { HttpSettings } from '../http/http-context.ts'
import { transportOf } from '../http/transport.ts'
import { checkOptionNames, type OptionNames } from '@owner-sso/token-manager'
import { isLoopback, mayCarrySecrets, verificationProblem } from '../support/verification.ts'

/** {@link SsoOptions} with every default filled in and every address in one form. */
export interface SsoSettings extends HttpSettings {
  /** Origin of the home instance, without a trailing slash. */
  readonly authUrl: string
  /** Origins of the regional instances that were listed. */
  readonly regionalAuthUrls: readonly string[]
  readonly redirectUri: string
  readonly codeChallengeEncoding: CodeChallengeEncoding
  readonly accessTokenLifetime: number | 'expires_in' | undefined
}

const optionNames: OptionNames<SsoOptions> = {
  authUrl: true,
  regionalAuthUrls: true,
  redirectUri: true,
  codeChallengeEncoding: true,
  accessTokenLifetime: true,
  transport: true,
  userAgent: true,
  tls: true,
  timeout: true,
  proxy: true,
  firewallCooldown: true,
}

/** @throws TypeError that names the option */
export function parseSsoOptions(options: SsoOptions): SsoSettings {
  checkOptionNames('createSso', options, optionNames)
  // Own properties alone: what somebody put on Object.prototype is not an option.
  const own: SsoOptions = Object.assign(Object.create(null), options)

  const authUrl = instanceOrigin('authUrl', own.authUrl)
  const { regionalAuthUrls = [], redirectUri = `${authUrl}/void/callback`, codeChallengeEncoding = 'hex-digest' } = own
  const { accessTokenLifetime, timeout = 15_000, proxy, firewallCooldown = 900 } = own

  requireThat(Array.isArray(regionalAuthUrls), 'regionalAuthUrls must be an array of addresses')
  requireThat(
    isRedirectUri(redirectUri),
    'redirectUri must be an absolute address without a query, fragment or user name',
  )
  requireThat(
    codeChallengeEncoding === 'hex-digest' || codeChallengeEncoding === 'raw-digest',
    "codeChallengeEncoding must be 'hex-digest' or 'raw-digest'",
  )
  requireThat(
    accessTokenLifetime === undefined || accessTokenLifetime === 'expires_in' || isPositive(accessTokenLifetime),
    "accessTokenLifetime must be seconds or 'expires_in'",
  )
  requireThat(isPositive(timeout) && timeout <= 2 ** 31 - 1, 'timeout must be milliseconds, more than 0')
  requireThat(proxy === undefined || isProxyUrl(proxy), 'proxy must be an http or https address')
  requireThat(isPositive(firewallCooldown), 'firewallCooldown must be seconds, more than 0')
  const unverified = verificationProblem(new URL(authUrl))
  requireThat(unverified === undefined, `authUrl ${unverified}`)

  return {
    authUrl,
    regionalAuthUrls: regionalAuthUrls.map((url: unknown) => instanceOrigin('regionalAuthUrls', url)),
    redirectUri,
    codeChallengeEncoding,
    accessTokenLifetime,
    transport: transportOf(own),
    timeout,
    proxy,
    firewallCooldown,
  }
}

/** An instance's address as its origin. https, or http on a loopback host; no path, user name, query or fragment. */
function instanceOrigin(option: string, value: unknown): string {
  const url = typeof value === 'string' ? parsed(value) : undefined
  requireThat(url !== undefined, `${option} must be an address such as https://auth.example.com`)
  requireThat(mayCarrySecrets(url), `${option} must be https (http is for loopback hosts only)`)
  requireThat(
    url.href === `${url.origin}/` && !url.hostname.endsWith('.'),
    `${option} must be a scheme, host and port without a path, query, fragment or user name`,
  )
  return url.origin
}

function isRedirectUri(value: unknown): value is string {
  const url = typeof value === 'string' ? parsed(value) : undefined
  if (!url || /[\s\\?#]/u.test(String(value)) || url.username || url.password) return false
  // An app's own scheme is fine: the address is only ever compared, never requested by us.
  if (url.protocol === 'http:') return isLoopback(url)
  return !['javascript:', 'data:', 'blob:', 'file:', 'about:', 'vbscript:'].includes(url.protocol)
}

function isProxyUrl(value: unknown): value is string {
  const url = typeof value === 'string' ? parsed(value) : undefined
  return url?.protocol === 'http:' || url?.protocol === 'https:'
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
