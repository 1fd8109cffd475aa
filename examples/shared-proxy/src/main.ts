/**
 * One instance of the gateway, as a process: from its environment to SIGTERM.
 */
import { once } from 'node:events'
import type { Server } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { brokerClients, type BrokerClients } from '@owner-sso/broker'
import {
  answeredInTime,
  createSso,
  createTokenManager,
  refreshFromEnvironment,
  startTimeLimit,
  StoreError,
  type TokenManager,
  withTimeLimit,
} from '@owner-sso/core'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { createGateway, type Gateway } from './gateway.ts'
import { described, logRefreshes, logToStdout as log } from './log.ts'
import { settingsFrom } from './settings.ts'
import { longestPause, openStore, type SharedStore } from './stores.ts'

/** Milliseconds that a refresh may still take when the calls have ended: its own deadline of 30 s, and the save. */
const settlingTime = 45_000
/** Milliseconds that the last traces and metrics may take. */
const sendingTime = 2_000

// Before anything else: a signal that comes while the instance starts ends it in order, and a second one changes nothing.
const asked = new Promise<string>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, resolve)
})
// A log that nobody reads, or that has no room, ends no instance.
process.stdout.on('error', () => undefined)

try {
  process.exit(await run())
} catch (error) {
  console.error(`The gateway could not start: ${described(error).message}`)
  process.exit(error instanceof TypeError ? 2 : 1)
}

async function run(): Promise<number> {
  const settings = settingsFrom(process.env)
  const { apiUrl, requestBudget } = settings
  const { authUrl, regionalAuthUrls = [], transport } = settings.sso
  const endTelemetry = settings.hasCollector ? (await import('./telemetry.ts')).startTelemetry() : undefined
  const sso = createSso(settings.sso)
  const shared = openStore(settings, (code) => log('store-down', { code }))
  const clients = brokerClients({ store: shared.store })
  // Sealed as the store is: both hold the same.
  const { spool: path, encryptionKeys: encryptionKey } = settings
  const spool = path === undefined ? undefined : fileTokenStore({ path, encryptionKey })
  const refresh = refreshFromEnvironment()
  const tokens = createTokenManager({ issuer: sso, store: shared.store, requestBudget, spool, refresh })
  logRefreshes(tokens, log)
  void warnOf(shared, clients)
  const refreshHosts = [authUrl, ...regionalAuthUrls].map((instance) => sso.tokenUrlOf(instance))
  const gateway = createGateway({ tokens, store: shared.store, clients, apiUrl, transport, refreshHosts, log })
  log('listening', { url: await listen(gateway.server, settings.host, settings.port) })
  const signal = await asked
  const stopped = stop(gateway, tokens, settings.graceSeconds * 1000)
  // After `stop` has begun: whoever reads this line finds nobody listening.
  log('stopping', { signal })
  const exitCode = await stopped
  // When each client called last: the store may be down.
  await clients.close().catch(() => undefined)
  // A collector that is away holds up nobody.
  if (endTelemetry !== undefined) {
    await answeredInTime(sendingTime, endTelemetry, () => new Error('too late')).catch(() => log('telemetry-unsent'))
  }
  return exitCode
}

/** As soon as the store is there: what about it can cost token sets, and that nobody may call yet. */
async function warnOf({ problems }: SharedStore, clients: BrokerClients): Promise<void> {
  try {
    let found: readonly string[] | undefined
    let told = ''
    for (let wait = 50; found === undefined; wait = Math.min(wait * 2, longestPause)) {
      found = await problems().catch(async (error: unknown) => {
        if (!(error instanceof StoreError)) throw error
        // That it is not there yet, `store-down` says.
        if (error.reason !== 'unavailable' && error.message !== told) log('store-warning', { ...described(error) })
        told = error.message
        await pause(wait)
        return undefined
      })
    }
    log('store-connected')
    for (const message of found) log('store-warning', { message })
    if ((await clients.list()).length === 0) {
      log('no-clients', { message: 'Let a program in: owner-sso broker invite NAME --scope proxy' })
    }
  } catch (error) {
    log('store-warning', { ...described(error) })
  }
}

async function listen(server: Server, host: string, port: number): Promise<string> {
  server.listen({ host, port })
  await once(server, 'listening')
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound}`
}

/** First the callers get their answers, then the store what was refreshed for them. */
async function stop(gateway: Gateway, tokens: TokenManager, grace: number): Promise<number> {
  const endLimit = startTimeLimit(grace, () => void gateway.cut())
  await gateway.drain()
  endLimit()
  try {
    await withTimeLimit(settlingTime, (signal) => tokens.settled({ signal }))
    log('stopped')
    return 0
  } catch (error) {
    log('stopped-unsettled', { ...described(error) })
    return 1
  }
}
