/**
 * The SSO service as the settings name it.
 */
import { readFileSync } from 'node:fs'
import {
  type ServiceName,
  type Sso,
  type SsoOptions,
  createSso,
  mayCarrySecrets,
  proxyOf,
  clientSecretIn,
  type Transport,
  type RequestBudget,
  challengeEncodingFromText,
  requestBudgetFrom,
  serviceFromText,
  serviceProfile,
  tokenUrlFromText,
  transportFromText,
  transportOf as checkTransport,
} from '@owner-sso/core'
import { usageError } from '../failure/command-error.ts'
import { expandHome } from '../machine/folders.ts'
import { settingRows } from './setting-table.ts'
import type { Given, Settings } from './settings.ts'

/**
 * Made before there is anything to refresh: a setting that can't be used, found within a refresh, would leave that in doubt.
 *
 * @throws CommandError where no service is named, or something about it is wrong
 */
export function serviceOf(settings: Settings): Sso {
  const { regionalAuthUrls, redirectUri, codeChallengeEncoding: encoding } = settings
  const [authUrl, tokenUrl, how] = [authUrlOf(settings), tokenUrlOf(settings), connectionOf(settings)]
  try {
    return createSso({
      authUrl: authUrl.value,
      regionalAuthUrls: regionalAuthUrls.value,
      ...serviceNameOf(settings),
      ...applicationOf(settings),
      ...(tokenUrl !== undefined && { tokenUrl }),
      ...(redirectUri && { redirectUri: redirectUri.value }),
      ...(encoding && { codeChallengeEncoding: challengeEncodingFromText(encoding.value, 'codeChallengeEncoding') }),
      ...how,
    })
  } catch (error) {
    throw placed(error, (wrong) => originOf(wrong, settings))
  }
}

/** The addresses of a service alone, as they are typed. @throws CommandError */
export function requireAddresses(authUrl: string, regionalAuthUrls: readonly string[] = []): void {
  try {
    createSso({ authUrl, regionalAuthUrls })
  } catch (error) {
    throw placed(error, () => 'your answer')
  }
}

function serviceNameOf({ service }: Settings): Pick<SsoOptions, 'service'> {
  return service === undefined ? {} : { service: serviceFromText(service.value, 'service') }
}

/** The registered application, where one is set. Its secret is read by the requests that need it. @throws TypeError */
function applicationOf({ clientId, clientSecretFile: file, audience, scope }: Settings): Partial<SsoOptions> {
  const clientSecret = file && clientSecretIn(expandHome(file.value), 'clientSecretFile')
  return { clientId: clientId?.value, clientSecret, audience: audience?.value, scope: scope?.value }
}

/** The kind of service that is set, or the document's: one that is none is told elsewhere. */
export function usableServiceNameOf(settings: Settings): ServiceName {
  return ifUsable(() => serviceNameOf(settings).service) ?? 'document'
}

/** Where tokens come from, if not from the address of the SSO service. @throws CommandError */
function tokenUrlOf({ tokenUrl }: Settings): SsoOptions['tokenUrl'] {
  if (typeof tokenUrl?.value !== 'string') return tokenUrl?.value
  try {
    return tokenUrlFromText(tokenUrl.value)
  } catch (error) {
    throw placed(error, () => tokenUrl.from)
  }
}

/** The addresses of token endpoints, as far as they can be used: what is wrong is told elsewhere. */
export function tokenUrlsOf(settings: Settings): readonly string[] {
  const tokenUrl = ifUsable(() => tokenUrlOf(settings)) ?? []
  return typeof tokenUrl === 'string' ? [tokenUrl] : Object.values(tokenUrl)
}

/** How the SSO service and the owner API are spoken to, and through which outbound proxy. @throws CommandError */
export function connectionOf(settings: Settings): Pick<SsoOptions, 'transport' | 'tls' | 'proxy'> {
  const proxy = outboundProxyOf(settings)
  return { ...transportOf(settings), ...(proxy !== undefined && { proxy }) }
}

/** The outbound proxy's address, if there is one. @throws CommandError, which does not show it */
export function outboundProxyOf({ proxy }: Settings): string | undefined {
  try {
    return proxyOf({ proxy: proxy?.value })
  } catch (error) {
    throw placed(error, () => proxy?.from)
  }
}

/** @throws CommandError */
export function transportOf({ transport, ca }: Settings): Pick<SsoOptions, 'transport' | 'tls'> {
  const pem = ca && certificateAuthority(ca.value)
  try {
    const value =
      typeof transport?.value === 'string' ? transportFromText(transport.value, 'transport') : transport?.value
    const how = { ...(value && { transport: value }), ...(pem !== undefined && { tls: { ca: pem } }) }
    checkTransport(how)
    return how
  } catch (error) {
    throw placed(error, () => transport?.from)
  }
}

/** What refreshes may cost, of all processes that share the store. @throws CommandError */
export function requestBudgetOf({ requestBudget }: Settings): RequestBudget | undefined {
  if (requestBudget === undefined) return undefined
  try {
    return requestBudgetFrom(requestBudget.value)
  } catch (error) {
    throw placed(error, () => requestBudget.from)
  }
}

/** @throws CommandError where this machine asks no token endpoint */
export function requireRefreshHere({ refresh }: Settings): void {
  if (refresh.value === 'here') return
  const next = 'Run this where tokens are refreshed, over the same store.'
  throw usageError(`This machine asks no token endpoint: refresh is elsewhere (${refresh.from}).`, next)
}

/** How to look at an address. */
export interface UsableConnection {
  readonly transport: Transport
  readonly proxy: Given<string> | undefined
}

/** The service's own transport and no proxy, where the settings name one that can't be used: that is told elsewhere. */
export function usableConnectionOf(settings: Settings): UsableConnection {
  const { transport } = serviceProfile(usableServiceNameOf(settings))
  const how = { transport, ...ifUsable(() => transportOf(settings)) }
  const proxy = ifUsable(() => outboundProxyOf(settings)) === undefined ? undefined : settings.proxy
  return { transport: checkTransport(how), proxy }
}

function ifUsable<Value>(read: () => Value): Value | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** What core says of a value, and where that came from. Any other error stays as it is. */
function placed(error: unknown, origin: (wrong: TypeError) => string | undefined): unknown {
  if (!(error instanceof TypeError)) return error
  return usageError(`${error.message}.`, `It came from ${origin(error)}: correct it there.`)
}

/** Where the option came from that a TypeError names. */
function originOf({ message }: TypeError, settings: Settings): string | undefined {
  const [option = ''] = /^\w+/u.exec(message) ?? []
  if (option === 'tls' || option === 'userAgent') return settings.transport?.from
  const name = settingRows.find(([each]) => each === option)?.[0] ?? 'authUrl'
  return settings[name]?.from
}

function authUrlOf({ authUrl }: Settings): Given<string> {
  if (authUrl !== undefined) return authUrl
  throw usageError(
    'No SSO service is configured.',
    'Run owner-sso setup, give --auth-url https://…, or set OWNER_SSO_AUTH_URL.',
  )
}

/** The owner API's address. @throws CommandError where there is none */
export function apiUrlOf({ apiUrl }: Settings): string {
  if (apiUrl !== undefined && isWebAddress(apiUrl.value)) return apiUrl.value
  if (apiUrl !== undefined) {
    const next = `It is https, or http on a loopback host. It came from ${apiUrl.from}: correct it there.`
    throw usageError('The owner API’s address can’t be used.', next)
  }
  throw usageError(
    'No owner API is configured.',
    'Run owner-sso setup, give --api-url https://…, or set OWNER_SSO_API_URL.',
  )
}

function isWebAddress(address: string): boolean {
  if (!URL.canParse(address)) return false
  return mayCarrySecrets(new URL(address))
}

/** The PEM of a private CA. @throws CommandError where the file can't be read, or is not one */
export function certificateAuthority(path: string): string {
  try {
    const pem = readFileSync(expandHome(path))
    checkTransport({ tls: { ca: pem } })
    return pem.toString()
  } catch (error) {
    const [, problem] = error instanceof TypeError ? error.message.split('; ') : []
    const what = `${path} is not a readable PEM file with a certificate${problem === undefined ? '' : `: ${problem}`}.`
    throw usageError(what, 'Correct --ca or OWNER_SSO_CA.')
  }
}
