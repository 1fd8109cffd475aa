/**
 * `owner-sso broker`: hands tokens out until it is told to stop.
 */
import {
  accountAlerts,
  type BrokerClients,
  brokerClients,
  type BrokerServer,
  statusPage,
  type StatusPage,
  tokenBroker,
} from '@owner-sso/broker'
import type { Call } from '../call.ts'
import { exitCodes, usageError } from '../command-error.ts'
import { apiUrlOf, serviceOf, transportOf } from '../configured-service.ts'
import { untilStopped } from '../interruption.ts'
import { printData, printJson, printNote } from '../output.ts'
import { withTokens } from '../token-keeping.ts'
import { alertChannelsOf } from './alert-channels.ts'
import { auditLog } from './audit-log.ts'
import { clientsPlaceOf, listenOptionsOf, publicUrlOf } from './place.ts'

const pagePath = '/status'

export async function serve({ settings, options }: Call): Promise<number> {
  const places = listenOptionsOf(options)
  const publicUrl = publicUrlOf(options)
  const channels = alertChannelsOf(options, settings)
  const sso = serviceOf(settings)
  const proxy = options.withProxy ? { target: apiUrlOf(settings), ...transportOf(settings) } : undefined
  await withTokens(settings, sso, async ({ tokens, store: { store, isOfNetwork: shareSignIns } }) => {
    const clients = brokerClients(clientsPlaceOf(options, store))
    const audit = auditLog(options.audit)
    const hosts = publicUrl === undefined ? [] : [publicUrl.hostname]
    const https = publicUrl?.protocol === 'https:' || options.tlsCert !== undefined
    const alerts = accountAlerts({
      tokens,
      store,
      channels,
      accounts: () => accountsOf(clients),
      ...(publicUrl !== undefined && { signInUrl: new URL(pagePath, publicUrl).href }),
      onFailure: ({ error, channel, account }) => {
        const what = `${channel === undefined ? 'Alerts' : `Alert by ${channel}`}: ${messageOf(error)}`
        page.noteFailure(what, account)
        printNote(what)
      },
    })
    const shown = { tokens, sso, clients, store, shareSignIns, path: pagePath, https, hosts, alerts }
    const page: StatusPage = statusPage(shown)
    const broker = tokenBroker({
      tokens,
      clients,
      hosts,
      alerts,
      ...(proxy && { proxy }),
      ...(options.rotate && { rotation: 'rotate' }),
      ...(audit && { audit: audit.note }),
      onProblem: (error, { code }) => printNote(`${code}: ${messageOf(error)}`),
    })
    const servers: BrokerServer[] = []
    try {
      for (const place of places) {
        servers.push(
          await listening(() => ('port' in place ? broker.listen(place, page.handler) : broker.listen(place))),
        )
      }
      await greet(servers, publicUrl, settings.json)
      await untilStopped()
    } finally {
      await Promise.all(servers.map((server) => server.close()))
      await broker.close()
      await alerts.close()
      page.close()
      await audit?.close()
    }
  })
  return exitCodes.ok
}

async function listening(listen: () => Promise<BrokerServer>): Promise<BrokerServer> {
  try {
    return await listen()
  } catch (error) {
    throw usageError(`The broker can’t listen: ${messageOf(error)}`, 'Choose another --port, --host or --socket.')
  }
}

/** Addresses are data; what to do with them is not. */
async function greet(servers: readonly BrokerServer[], publicUrl: URL | undefined, json: boolean): Promise<void> {
  const urls = servers.map(({ url }) => url)
  await (json ? printJson({ urls }) : printData(...urls))
  for (const url of urls) {
    const socket = url.startsWith('unix:') ? url.slice('unix:'.length) : undefined
    const lines =
      socket === undefined
        ? [
            `Status page: ${url}${pagePath} (for a code: owner-sso broker code)`,
            `Let a program in: owner-sso broker invite NAME --public-url ${publicUrl?.origin ?? url}`,
          ]
        : [`A token: curl --unix-socket ${socket} http://broker/token`]
    printNote(...lines)
  }
  printNote('Ctrl-C ends it.')
}

async function accountsOf(clients: BrokerClients): Promise<string[]> {
  return (await clients.list()).flatMap(({ accounts }) => accounts)
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown'
}
