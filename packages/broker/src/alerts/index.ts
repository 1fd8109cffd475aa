/**
 * The room of the alerts: tells people that an account has to sign in again. The rest of the broker does not know of it.
 */
export { accountAlerts, type AccountAlerts, type AccountAlertsOptions } from './account-alerts.ts'
export type { Alert, AlertChannel } from './alert.ts'
export { mqttAlert, type MqttOptions } from './mqtt.ts'
export type { AlertFailure } from './telling.ts'
export { webhookAlert, type WebhookOptions } from './webhook.ts'
