/**
 * `owner-sso broker`: hands tokens out until it is told to stop.
 */
import {
  accountAlerts,
  type AlertChannel,
  brokerClients,
  type BrokerServer,
  type ListenOptions,
  mqttAlert,
  rejectionNotes,
  statusPage,
  type StatusPage,
  tokenBroker,
  type TokenBrokerOptions,
  webhookAlert,
} from '@owner-sso/broker'
import type { Sso } from '@owner-sso/core'
import { messageOf, usageError } from '../failure/command-error.ts'
import type { BrokerCall, BrokerFlags } from './broker-options.ts'
import { apiUrlOf, serviceOf, connectionOf } from '../settings/configured-service.ts'
import { untilStopped } from '../failure/interruption.ts'
import { printData, printJson, printNote } from '../terminal/output.ts'
import { type TokenKeeping, withTokens } from '../tokens/token-keeping.ts'
import { secretFromVariable } from '../settings/secrets.ts'
import { expandHome } from '../machine/folders.ts'
import type { Settings } from '../settings/settings.ts'
import { auditLog } from './audit-log.ts'
import { listenOptionsOf, publicUrlOf } from './place.ts'

const pagePath = '/status'

export async function serve({ settings, options }: BrokerCall): Promise<void> {
  // What is wrong with an option is told before the store is opened.
  const places = listenOptionsOf(options)
  const publicUrl = publicUrlOf(options)
  const channels = alertChannelsOf(options, settings)
  const proxy = options.withProxy ? { target: apiUrlOf(settings), ...connectionOf(settings) } : undefined
  const sso = serviceOf(settings)
  const listen = async (keeping: TokenKeeping): Promise<void> => {
    const parts = partsOf({ publicUrl, channels, proxy, options, sso }, keeping)
    const servers: BrokerServer[] = []
    try {
      for (const place of places) servers.push(await listening(place, parts))
      await greet(servers, publicUrl, settings.json)
      await untilStopped()
    } finally {
      await parts.broker.close()
      await parts.alerts.close()
      parts.page.close()
      await parts.audit?.close()
    }
  }
  await withTokens(settings, sso, listen, { makesStore: true })
}

interface Asked {
  readonly publicUrl: URL | undefined
  readonly channels: AlertChannel[]
  readonly proxy: TokenBrokerOptions['proxy']
  readonly options: BrokerFlags
  readonly sso: Sso
}

function partsOf({ publicUrl, channels, proxy, options, sso }: Asked, { tokens, store: { store } }: TokenKeeping) {
  const clients = brokerClients({ store })
  const audit = auditLog(options.audit)
  const hosts = publicUrl === undefined ? [] : [publicUrl.hostname]
  const https = publicUrl?.protocol === 'https:' || options.tlsCert !== undefined
  const alerts = accountAlerts({
    tokens,
    store,
    channels,
    accounts: async () => (await clients.list()).flatMap(({ accounts }) => accounts),
    ...(publicUrl !== undefined && { signInUrl: new URL(pagePath, publicUrl).href }),
    onFailure: ({ error, channel, account }) => {
      const what = `${channel === undefined ? 'Alerts' : `Alert by ${channel}`}: ${messageOf(error)}`
      page.noteFailure(what, account)
      printNote(what)
    },
  })
  const shown = { tokens, sso, clients, store, path: pagePath, https, hosts, alerts }
  const page: StatusPage = statusPage(shown)
  const noteRejection = rejectionNotes((what, address) => {
    page.noteFailure(what)
    printNote(`${what} (From ${address}.)`)
  })
  const broker = tokenBroker({
    tokens,
    clients,
    hosts,
    alerts,
    ...(proxy && { proxy }),
    audit: (entry) => {
      audit?.note(entry)
      noteRejection(entry)
    },
    onProblem: (error, { code }) => printNote(`${code}: ${messageOf(error)}`),
  })
  return { broker, page, alerts, audit }
}

/** The status page is for people: on a port, not on the socket. */
async function listening(place: ListenOptions, { broker, page }: ReturnType<typeof partsOf>): Promise<BrokerServer> {
  try {
    return await ('port' in place ? broker.listen(place, page.handler) : broker.listen(place))
  } catch (error) {
    const isOpen = error instanceof TypeError
    const next = isOpen
      ? 'Give --tls-cert and --tls-key, or --behind-tls-proxy.'
      : 'Choose another --port, --host or --socket.'
    throw usageError(`The broker can’t listen: ${messageOf(error)}`, next)
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

/** Whom it tells that an account has to sign in again. @throws CommandError */
function alertChannelsOf(options: BrokerFlags, { ca }: Settings): AlertChannel[] {
  const { alertWebhook: url, alertMqtt, alertTopic: topic } = options
  const channels: AlertChannel[] = []
  if (url !== undefined) {
    const secret = webhookSecret()
    channels.push(made('--alert-webhook, or OWNER_SSO_ALERT_SECRET', () => webhookAlert({ url, secret })))
  }
  if (alertMqtt !== undefined) {
    const server = {
      url: alertMqtt,
      username: secretFromVariable('OWNER_SSO_ALERT_MQTT_USERNAME'),
      password: secretFromVariable('OWNER_SSO_ALERT_MQTT_PASSWORD'),
      ...(topic !== undefined && { topic }),
      ...(ca && { ca: expandHome(ca.value) }),
    }
    channels.push(made('--alert-mqtt or --alert-topic', () => mqttAlert(server)))
  }
  return channels
}

function made(option: string, make: () => AlertChannel): AlertChannel {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw usageError(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`, `Correct ${option}.`)
  }
}

function webhookSecret(): string {
  const secret = secretFromVariable('OWNER_SSO_ALERT_SECRET')
  if (secret !== undefined) return secret
  const next = 'Set OWNER_SSO_ALERT_SECRET to what openssl rand -base64 32 prints, here and at the receiver.'
  throw usageError('A webhook is signed, and there is no secret to sign it with.', next)
}
