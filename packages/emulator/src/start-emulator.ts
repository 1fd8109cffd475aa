/**
 * `startEmulator`: the SSO service and the owner API on loopback, and the handles that tests hold them by.
 */
import { createCertificate, type Certificate } from './http/certificate.ts'
import { controlRouter } from './control/control-router.ts'
import type { Addresses, Emulator } from './switches/emulator.ts'
import { failureOf } from './faults/transform.ts'
import { createFaults } from './faults/faults.ts'
import { inspectorRouter } from './inspector/inspector-router.ts'
import { createInstances } from './http/instances.ts'
import { createJournal } from './journal/journal.ts'
import type { Exchange } from './journal/exchange.ts'
import { listen, type Listener } from './http/listeners.ts'
import { parseEmulatorOptions, type EmulatorOptions, type EmulatorSettings } from './options/check-options.ts'
import { createOwnerApi } from './service/owner-api.ts'
import { createServiceState } from './state/service-state.ts'
import { isRegistered } from './state/strictness.ts'
import { createSsoApp } from './service/sso-app.ts'
import { createHandles } from './switches/handles.ts'
import { publicKeys } from './state/access-tokens.ts'
import { createControl } from './answers/guard.ts'

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

  const certificate = settings.tls ? await createCertificate() : undefined
  const jwks = await publicKeys()
  const sockets = await openSockets(settings, certificate)
  const addresses = addressesOf(sockets, settings)
  const { authUrl, regionalAuthUrl, ownerApiUrl, tokenUrl, regionalTokenUrl } = addresses

  const service = createServiceState(
    settings,
    createInstances({ url: authUrl, tokenUrl }, { url: regionalAuthUrl, tokenUrl: regionalTokenUrl }),
    ownerApiUrl,
  )
  const faults = createFaults(service.counters)
  const journal = createJournal(service.clock)
  const handles = createHandles(options, service, faults, journal, certificate?.ca)
  journal.subscribe((exchange) => exchange && watch(exchange))
  const control = createControl([inspectorRouter(journal), controlRouter(service, faults, handles)])
  const ssoApp = createSsoApp(service, faults, journal, settings.inspector ? control : undefined)
  for (const listener of new Set([sockets.sso, sockets.token])) listener.serve(ssoApp)
  sockets.ownerApi.serve(createOwnerApi(service, faults, journal))

  const close = async (): Promise<void> => {
    await sockets.close()
    const failure = failureOf(faults.failures.splice(0))
    if (failure) throw failure
  }
  return {
    ...addresses,
    ca: certificate?.ca,
    jwks,
    close,
    [Symbol.asyncDispose]: close,
    ...handles,
  }
}

interface Sockets {
  readonly sso: Listener
  /** Of the token endpoints: `sso`, or another. */
  readonly token: Listener
  readonly ownerApi: Listener
  readonly close: () => Promise<void>
}

async function openSockets(settings: EmulatorSettings, certificate: Certificate | undefined): Promise<Sockets> {
  const { http2 } = settings
  const listeners: Listener[] = []
  const open = async (port: number): Promise<Listener> => {
    const listener = await listen({ port, certificate, http2 })
    listeners.push(listener)
    return listener
  }
  const close = async (): Promise<void> => {
    await Promise.all(listeners.map((listener) => listener.close()))
  }
  try {
    const sso = await open(settings.port)
    const isMoved = settings.tokenEndpointAt === 'port' || isRegistered(settings)
    return { sso, token: isMoved ? await open(0) : sso, ownerApi: await open(settings.ownerApiPort), close }
  } catch (error) {
    await close()
    throw error
  }
}

/** The two instances have two names of this machine. */
function addressesOf({ sso, token, ownerApi }: Sockets, { tls }: EmulatorSettings): Addresses {
  const scheme = tls ? 'https' : 'http'
  return {
    authUrl: `${scheme}://127.0.0.1:${sso.port}`,
    regionalAuthUrl: `${scheme}://localhost:${sso.port}`,
    tokenUrl: `${scheme}://127.0.0.1:${token.port}`,
    regionalTokenUrl: `${scheme}://localhost:${token.port}`,
    ownerApiUrl: `${scheme}://127.0.0.1:${ownerApi.port}`,
  }
}
