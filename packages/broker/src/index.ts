// Hand out access tokens to programs.
export { tokenBroker, type TokenBroker } from './broker.ts'
export type { BrokerHandler } from './http/door.ts'
export type { BrokerLimits, BrokerTokens, TokenBrokerOptions } from './options.ts'
export type { BrokerServer, ListenOnPort, ListenOptions } from './listen/listen.ts'
export type { ListenOnSocket } from './listen/unix-socket.ts'

// Let programs in and out.
export { brokerClients, type BrokerClients } from './clients/broker-clients.ts'
export {
  type BrokerClient,
  type ClientKey,
  type ClientLimits,
  ClientsError,
  type ClientsProblem,
  type ClientScope,
  type Invitation,
  type Invited,
  type KeptClient,
  type ListedClient,
} from './clients/client.ts'
export { admit, type Admission } from './http/caller.ts'

// Watch it.
export { type AuditEntry, rejectionNotes } from './http/audit.ts'
export type { BrokerAlerts } from './http/account-tokens.ts'
export type { BrokerRejectionCode } from './http/rejection.ts'

// Tell people that an account has to sign in again, and let them.
export { accountAlerts, type AccountAlerts, type AccountAlertsOptions } from './alerts/account-alerts.ts'
export type { Alert, AlertChannel } from './alerts/alert.ts'
export { mqttAlert, type MqttOptions } from './alerts/mqtt.ts'
export type { AlertFailure } from './alerts/telling.ts'
export { webhookAlert, type WebhookOptions } from './alerts/webhook.ts'
export { statusPageCode } from './status-page/entry-code.ts'
export { type StatusPage, statusPage, type StatusPageOptions } from './status-page/status-page.ts'
