/**
 * The broker of a household, as a process: store, status page, alerts, from its environment to SIGTERM.
 */
import {
  accountAlerts,
  brokerClients,
  rejectionNotes,
  statusPage,
  type StatusPage,
  tokenBroker,
  webhookAlert,
} from '@owner-sso/broker'
import { createSso, createTokenManager, refreshFromEnvironment, visible } from '@owner-sso/core'
import { openStore } from './open-store.ts'
import { type Settings, SettingsError, settingsFrom } from './settings.ts'

const pagePath = '/status'
const unencrypted =
  'Tokens are stored unencrypted. With OWNER_SSO_ENCRYPTION_KEY (openssl rand -base64 32), a new store is sealed; ' +
  'owner-sso copy --from-plain copies into it what is in this one.'

// Before anything else: a signal that comes while it starts ends it in order, and a second one changes nothing.
const asked = new Promise<void>((resolve) => {
  for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => resolve())
})
// A log that nobody reads, or that has no room, ends no broker.
process.stdout.on('error', () => undefined)
// Node would write them for programmers. What the store warns of is said below, by the name of the setting.
process.removeAllListeners('warning')
process.on('warning', (warning) => {
  const isKnown = 'code' in warning && warning.code === 'OWNER_SSO_UNSEALED'
  if (!isKnown) log('warning', { message: `${warning.name}: ${warning.message}` })
})

try {
  await run(settingsFrom(process.env))
  process.exit(0)
} catch (error) {
  console.error(`The broker could not start: ${messageOf(error)}`)
  process.exit(error instanceof SettingsError || error instanceof TypeError ? 2 : 1)
}

async function run(settings: Settings): Promise<void> {
  const { apiUrl, publicUrl, webhook } = settings
  const { host, port, tls, behindTlsProxy } = settings
  const hosts = [...settings.hosts, ...(publicUrl === undefined ? [] : [publicUrl.hostname])]
  const { store, close: closeStore } = openStore(settings)
  const sso = createSso(settings.sso)
  const tokens = createTokenManager({ sso, store, refresh: refreshFromEnvironment() })
  const clients = brokerClients({ store })
  const alerts = accountAlerts({
    tokens,
    store,
    channels: webhook === undefined ? [] : [webhookAlert(webhook)],
    accounts: async () => (await clients.list()).flatMap(({ accounts }) => accounts),
    signInUrl: publicUrl && new URL(pagePath, publicUrl).href,
    onFailure: ({ error, account }) => {
      page.noteFailure(messageOf(error), account)
      log('alert-failed', { account, message: messageOf(error) })
    },
  })
  const https = publicUrl?.protocol === 'https:' || tls !== undefined
  const shown = { tokens, sso, clients, store, path: pagePath, https, hosts, alerts }
  const page: StatusPage = statusPage(shown)
  const noteRejection = rejectionNotes((what) => page.noteFailure(what))
  const broker = tokenBroker({
    tokens,
    clients,
    hosts,
    alerts,
    ...(apiUrl !== undefined && { proxy: { target: apiUrl, transport: settings.sso.transport } }),
    audit: (entry) => {
      log('call', { ...entry })
      noteRejection(entry)
    },
    onProblem: (error, { code }) => log('problem', { code, message: messageOf(error) }),
  })
  const server = await broker.listen({ host, port, tls, behindTlsProxy }, page.handler)
  log('listening', { url: server.url, page: `${server.url}${pagePath}` })
  if (settings.encryptionKeys === undefined) log('unencrypted', { message: unencrypted })
  await asked
  await broker.close()
  await alerts.close()
  page.close()
  await tokens.settled()
  await closeStore()
  log('stopped')
}

/** A line of JSON, without a token: whoever reads the log learns who got one when. */
function log(event: string, details: object = {}): void {
  console.log(visible(JSON.stringify({ time: new Date().toISOString(), event, ...details })))
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
