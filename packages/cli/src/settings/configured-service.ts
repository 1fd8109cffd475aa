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
import { secretInKeyring } from '../keyring/client-secret.ts'
import { expandHome } from '../machine/folders.ts'
import { orTell } from './secrets.ts'
import { settingRows } from './setting-table.ts'
import type { Given, Settings } from './settings.ts'

/**
 * Made before there is anything to refresh: a setting that can't be used, found within a refresh, would leave that in doubt.
 *
 * @throws CommandError where no service is named, or something about it is wrong
 */
export function serviceOf(settings: Settings): Sso {
  const { authUrl, regionalAuthUrls, redirectUri, codeChallengeEncoding: encoding } = settings
  if (authUrl === undefined) throw notConfigured('SSO service', 'auth')
  const [tokenUrl, how] = [tokenUrlOf(settings), connectionOf(settings)]
  const make = (): Sso =>
    createSso({
      authUrl: authUrl.value,
      regionalAuthUrls: regionalAuthUrls.value,
      ...serviceNameOf(settings),
      ...applicationOf(settings),
      ...(tokenUrl !== undefined && { tokenUrl }),
      ...(redirectUri && { redirectUri: redirectUri.value }),
      ...(encoding && { codeChallengeEncoding: challengeEncodingFromText(encoding.value, 'codeChallengeEncoding') }),
      ...how,
    })
  return orTell((wrong) => cameFrom(originOf(wrong, settings)), make)
}

const cameFrom = (where: string | undefined): string => `It came from ${where}: correct it there.`

function originOf({ message }: TypeError, settings: Settings): string | undefined {
  const [option = ''] = /^\w+/u.exec(message) ?? []
  if (option === 'tls' || option === 'userAgent') return settings.transport?.from
  const name = settingRows.find(([each]) => each === option)?.[0] ?? 'authUrl'
  return settings[name]?.from
}

export function requireAddresses(authUrl: string, regionalAuthUrls: readonly string[] = []): void {
  orTell(cameFrom('your answer'), () => createSso({ authUrl, regionalAuthUrls }))
}

function serviceNameOf({ service }: Settings): Pick<SsoOptions, 'service'> {
  return service === undefined ? {} : { service: serviceFromText(service.value, 'service') }
}

/** The registered application, where one is set. Its secret is read by the requests that need it. @throws TypeError */
function applicationOf({ clientId, clientSecretFile: file, audience, scope, keyring }: Settings): Partial<SsoOptions> {
  const kept = clientId && (() => secretInKeyring(clientId.value, keyring?.value))
  const clientSecret = file ? clientSecretIn(expandHome(file.value), 'clientSecretFile') : kept
  return { clientId: clientId?.value, clientSecret, audience: audience?.value, scope: scope?.value }
}

/** The kind of service that is set, or the document's: one that is none is told elsewhere. */
export function usableServiceNameOf(settings: Settings): ServiceName {
  return ifUsable(() => serviceNameOf(settings).service) ?? 'document'
}

/** Where tokens come from, if not from the address of the SSO service. @throws CommandError */
function tokenUrlOf({ tokenUrl }: Settings): SsoOptions['tokenUrl'] {
  const given = tokenUrl?.value
  return typeof given === 'string' ? orTell(cameFrom(tokenUrl?.from), () => tokenUrlFromText(given)) : given
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
  return orTell(cameFrom(proxy?.from), () => proxyOf({ proxy: proxy?.value }))
}

function transportOf({ transport, ca }: Settings): Pick<SsoOptions, 'transport' | 'tls'> {
  const pem = ca && certificateAuthority(ca.value)
  const given = transport?.value
  return orTell(cameFrom(transport?.from), () => {
    const value = typeof given === 'string' ? transportFromText(given, 'transport') : given
    const how = { ...(value && { transport: value }), ...(pem !== undefined && { tls: { ca: pem } }) }
    checkTransport(how)
    return how
  })
}

/** What refreshes may cost, of all processes that share the store. @throws CommandError */
export function requestBudgetOf({ requestBudget }: Settings): RequestBudget | undefined {
  return requestBudget && orTell(cameFrom(requestBudget.from), () => requestBudgetFrom(requestBudget.value))
}

/** @throws CommandError where this machine asks no token endpoint */
export function requireRefreshHere({ refresh }: Settings): void {
  if (refresh.value === 'here') return
  const next = 'Run this where tokens are refreshed, over the same store.'
  throw usageError(`This machine asks no token endpoint: refresh is elsewhere (${refresh.from}).`, next)
}

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

/** The owner API's address. @throws CommandError where there is none */
export function apiUrlOf({ apiUrl }: Settings): string {
  if (apiUrl === undefined) throw notConfigured('owner API', 'api')
  if (URL.canParse(apiUrl.value) && mayCarrySecrets(new URL(apiUrl.value))) return apiUrl.value
  const next = `It is https, or http on a loopback host. It came from ${apiUrl.from}: correct it there.`
  throw usageError('The owner API’s address can’t be used.', next)
}

function notConfigured(what: string, name: 'auth' | 'api'): Error {
  const next = `Run owner-sso setup, give --${name}-url https://…, or set OWNER_SSO_${name.toUpperCase()}_URL.`
  return usageError(`No ${what} is configured.`, next)
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
