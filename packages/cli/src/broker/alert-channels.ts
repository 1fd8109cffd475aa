/**
 * Whom a broker tells that an account has to sign in again, as the options and the environment say.
 */
import { type AlertChannel, commandAlert, mqttAlert, webhookAlert } from '@owner-sso/broker'
import type { AlertFlags } from '../commands/broker.ts'
import { usageError } from '../command-line/command-error.ts'
import { expandHome } from '../settings/folders.ts'
import { secretFromVariable } from '../settings/secret-variable.ts'
import type { Settings } from '../settings/settings.ts'

/** @throws CommandError */
export function alertChannelsOf(options: AlertFlags, { ca }: Settings): AlertChannel[] {
  const { alertWebhook: url, alertCommand, alertMqtt, alertTopic: topic } = options
  const channels: AlertChannel[] = []
  const add = (option: string, make: () => AlertChannel): void => {
    try {
      channels.push(make())
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      throw usageError(`${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`, `Correct ${option}.`)
    }
  }
  if (url !== undefined) {
    const secret = secretFromVariable('OWNER_SSO_ALERT_SECRET')
    if (secret === undefined) {
      const next = 'Set OWNER_SSO_ALERT_SECRET to what openssl rand -base64 32 prints, here and at the receiver.'
      throw usageError('A webhook is signed, and there is no secret to sign it with.', next)
    }
    add('--alert-webhook, or OWNER_SSO_ALERT_SECRET', () => webhookAlert({ url, secret }))
  }
  if (alertCommand !== undefined) add('--alert-command', () => commandAlert({ command: [expandHome(alertCommand)] }))
  if (alertMqtt !== undefined) {
    const username = secretFromVariable('OWNER_SSO_ALERT_MQTT_USERNAME')
    const password = secretFromVariable('OWNER_SSO_ALERT_MQTT_PASSWORD')
    const trusted = ca === undefined ? {} : { ca: expandHome(ca.value) }
    const below = topic === undefined ? {} : { topic }
    add('--alert-mqtt or --alert-topic', () => mqttAlert({ url: alertMqtt, username, password, ...below, ...trusted }))
  }
  return channels
}
