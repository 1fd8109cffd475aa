/**
 * `startEmulator`: the SSO service and the owner API on loopback, and the handles that tests hold them by.
 */
import { createCertificate } from './http/certificate.ts'
import { createControl } from './control/control.ts'
import { switchesRouter } from './control/switches-router.ts'
import type { Emulator } from './emulator.ts'
import { failureOf } from './faults/transform.ts'
import { createFaults } from './faults/faults.ts'
import { createHandles } from './switches/handles.ts'
import { inspectorRouter } from './inspector/inspector-router.ts'
import { createInstances } from './service/instances.ts'
import { createJournal, type Exchange } from './journal/journal.ts'
import { hasTwoNames, isLoopback, listen, tlsVersions, type Listener } from './http/listeners.ts'
import type { EmulatorOptions, Settings } from './options/options.ts'
import { parseEmulatorOptions } from './options/parse-options.ts'
import { openapiRouter } from './openapi/openapi-router.ts'
import { createOwnerApi } from './service/owner-api.ts'
import { resetAll } from './switches/reset.ts'
import { createServiceState } from './service/service-state.ts'
import { publicKeys } from './service/signing-key.ts'
import { createSsoApp } from './service/sso-app.ts'
import { createSwitchboard } from './switches/switchboard.ts'

/**
 * Starts the emulator.
 *
 * @throws {TypeError} An option is wrong; the message names it.
 * @throws {Error} NODE_ENV is production, or the port is taken (code EADDRINUSE).
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  return startWatched(options, () => undefined)
}

/** The same for a program that tells a person what happens: `watch` hears of every exchange that is new or has changed. */
export async function startWatched(options: EmulatorOptions, watch: (exchange: Exchange) => void): Promise<Emulator> {
  const settings = parseEmulatorOptions(options)
  if (process.env['NODE_ENV'] === 'production') throw new Error('The emulator refuses to run with NODE_ENV=production')
  if (!isLoopback(settings.host) && !settings.allowRemote) {
    throw new TypeError('Option host must be a loopback address, unless allowRemote is given')
  }

  const certificate = settings.tls ? await createCertificate(settings.host) : undefined
  const jwks = await publicKeys()
  const listeners: Listener[] = []
  const open = async (port: number): Promise<Listener> => {
    const listener = await listen({
      host: settings.host,
      port,
      certificate,
      http2: settings.http2,
      tls: tlsVersions(settings),
    })
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

    const ownerApiUrl = `${scheme}://${host}:${ownerApi.port}`

    const service = createServiceState(settings, createInstances(authUrl, regionalAuthUrl))
    const faults = createFaults(service.counters)
    const switches = createSwitchboard(options, service, faults, (versions) => {
      for (const listener of listeners) listener.offer(versions)
    })
    const journal = createJournal(service.clock)
    journal.subscribe((exchange) => exchange && watch(exchange))
    const control = createControl([
      inspectorRouter(service, journal),
      openapiRouter(service),
      switchesRouter({ service, faults, switches, ownerApiUrl }),
    ])
    const ssoApp = createSsoApp(service, faults, journal, settings.inspector ? control : undefined)
    for (const listener of new Set([sso, regional])) listener.serve(ssoApp)
    ownerApi.serve(createOwnerApi(service, faults, journal))

    const close = async (): Promise<void> => {
      await closeAll()
      const failure = failureOf(faults.failures.splice(0))
      if (failure) throw failure
    }
    return {
      authUrl,
      regionalAuthUrl,
      ownerApiUrl,
      ca: certificate?.ca,
      jwks,
      reset: () => resetAll(service, switches, journal),
      close,
      [Symbol.asyncDispose]: close,
      ...createHandles(service, faults, journal, switches, certificate?.ca),
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

function urlHost(host: Settings['host']): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1'
  return host.includes(':') ? `[${host}]` : host
}

/** The host name of the regional instance, where `host` is that of the home instance. */
function otherHost(host: string): string {
  return host === 'localhost' ? '127.0.0.1' : 'localhost'
}
