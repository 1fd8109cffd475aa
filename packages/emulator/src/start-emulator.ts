/** `startEmulator`: the SSO service and the owner API on loopback, and the handles that tests hold them by. */
import type { JSONWebKeySet } from 'jose'
import { accountView, type Account, type EmulatorAccount } from './accounts.ts'
import { createCertificate } from './certificate.ts'
import type { Clock } from './clock.ts'
import type { Counters } from './counters.ts'
import { createFaults, type Endpoint, type Fault } from './faults.ts'
import { createInstances } from './instances.ts'
import { hasTwoNames, isLoopback, listen, type Listener } from './listeners.ts'
import { readOptions, type EmulatorOptions, type Settings } from './options.ts'
import { createOwnerApi } from './owner-api.ts'
import type { SignInTokens } from './refresh-tokens.ts'
import { createRequestLog, type LoggedRequest } from './request-log.ts'
import { resetAll } from './reset.ts'
import { createService, type Service } from './service.ts'
import { publicKeys } from './signing-key.ts'
import { createSsoApp } from './sso-app.ts'

export interface Emulator extends AsyncDisposable {
  /** Base addresses, without a trailing slash. */
  readonly authUrl: string
  readonly regionalAuthUrl: string
  readonly ownerApiUrl: string
  /** PEM of the certificate authority; undefined without TLS. */
  readonly ca: string | undefined
  readonly accounts: readonly EmulatorAccount[]
  /** What arrived, oldest first, secrets masked; the last 10,000. */
  readonly requests: readonly LoggedRequest[]
  readonly counters: Readonly<Counters>
  readonly clock: Clock
  /** The public keys that access and id tokens verify with. */
  readonly jwks: JSONWebKeySet
  /** The next request to the endpoint meets the fault; several wait in line. */
  once(endpoint: Endpoint, fault: Fault): void
  /** Every request to the endpoint meets the fault, until it is undefined. */
  always(endpoint: Endpoint, fault: Fault | undefined): void
  /** Tokens of a sign-in that needed no login. @throws {TypeError} Unknown identity. */
  issueTokens(identity: string): Promise<SignInTokens>
  /** The owner API answers the account's access tokens with 401 from now on. Says how many were alive. */
  revokeAccessTokens(identity: string): number
  /** The account's refresh tokens get `login_required` from now on. Says how many were alive. */
  expireRefreshTokens(identity: string): number
  /**
   * As at the start, at the same addresses: no fault waits or stands, the firewall and the factors remember nobody, the
   * clock is the machine's, the log is empty, every counter is zero. Sessions, codes and tokens live on.
   */
  reset(): void
  /** Ends every connection; can be repeated. */
  close(): Promise<void>
}

/**
 * Starts the emulator.
 *
 * @throws {TypeError} An option is wrong; the message names it.
 * @throws {Error} NODE_ENV is production, or the port is taken (code EADDRINUSE).
 */
export async function startEmulator(options?: EmulatorOptions): Promise<Emulator> {
  const settings = readOptions(options)
  if (process.env['NODE_ENV'] === 'production') throw new Error('The emulator refuses to run with NODE_ENV=production')
  if (!isLoopback(settings.host) && !settings.allowRemote) {
    throw new TypeError('Option host must be a loopback address, or allowRemote be true')
  }

  const certificate = settings.tls ? await createCertificate(settings.host) : undefined
  const jwks = await publicKeys()
  const listeners: Listener[] = []
  const open = async (port: number): Promise<Listener> => {
    const listener = await listen({ ...settings, port, certificate })
    listeners.push(listener)
    return listener
  }
  const closeAll = async (): Promise<void> => {
    await Promise.all(listeners.map((listener) => listener.close()))
  }

  try {
    const sso = await open(settings.port)
    const ownPort = settings.regionalAt === 'port' || !hasTwoNames(settings.host)
    const regional = ownPort ? await open(0) : sso
    const ownerApi = await open(settings.ownerApiPort)
    const scheme = settings.tls ? 'https' : 'http'
    const host = urlHost(settings.host)
    const authUrl = `${scheme}://${host}:${sso.port}`
    const regionalAuthUrl = `${scheme}://${regional === sso ? otherHost(host) : host}:${regional.port}`

    const service = createService(settings, createInstances(authUrl, regionalAuthUrl))
    const faults = createFaults(service.counters)
    const log = createRequestLog(service.clock)
    const ssoApp = createSsoApp(service, faults, log)
    for (const listener of new Set([sso, regional])) listener.serve(ssoApp)
    ownerApi.serve(createOwnerApi(service, faults, log))

    return {
      authUrl,
      regionalAuthUrl,
      ownerApiUrl: `${scheme}://${host}:${ownerApi.port}`,
      ca: certificate?.ca,
      jwks,
      requests: log.entries,
      once: faults.once,
      always: faults.always,
      reset: () => resetAll(service, faults, log),
      close: closeAll,
      [Symbol.asyncDispose]: closeAll,
      ...handles(service),
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

/** The handles that reach into the service itself. */
function handles(
  service: Service,
): Pick<Emulator, 'accounts' | 'clock' | 'counters' | 'issueTokens' | 'revokeAccessTokens' | 'expireRefreshTokens'> {
  const { accounts, accessTokens, refreshTokens, instances, clock, counters } = service
  const known = (identity: string): Account => {
    const account = accounts.find(identity)
    if (!account) throw new TypeError(`The emulator has no account ${identity}`)
    return account
  }
  return {
    clock,
    counters,
    accounts: accounts.all.map((account) => accountView(account, clock)),
    async issueTokens(identity) {
      const account = known(identity)
      return refreshTokens.signIn(account, instances[account.region])
    },
    revokeAccessTokens(identity) {
      const account = known(identity)
      return accessTokens.revoke((token) => token.account === account)
    },
    expireRefreshTokens: (identity) => refreshTokens.expire(known(identity)),
  }
}

function urlHost(host: Settings['host']): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

/** The regional instance's host name beside the home instance's. */
function otherHost(host: string): string {
  return host === 'localhost' ? '127.0.0.1' : 'localhost'
}
