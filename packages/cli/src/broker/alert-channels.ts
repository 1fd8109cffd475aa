/**
 * Whom a broker tells that an account has to sign in again, as the options and the environment say.
 */
import { type AlertChannel, mqttAlert, webhookAlert } from '@owner-sso/broker'
import type { BrokerFlags } from './broker-options.ts'
import { usageError } from '../failure/command-error.ts'
import { expandHome } from '../machine/folders.ts'
import { secretFromVariable } from '../settings/secrets.ts'
import type { Settings } from '../settings/settings.ts'

/** @throws CommandError */
export function alertChannelsOf(options: BrokerFlags, { ca }: Settings): AlertChannel[] {
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
