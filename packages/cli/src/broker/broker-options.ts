/**
 * The options of `owner-sso broker`, and one call of it.
 */
import type { Settings } from '../settings/settings.ts'
import { flag, type OptionsOf, value } from '../options/option.ts'

export const brokerOptions = {
  port: value('<number>', 'listen on a port, for programs that were invited'),
  host: value('<address>', 'with --port: where to listen (default: 127.0.0.1; another one needs TLS)'),
  socket: value('<path>', 'the Unix socket (default: one that only you can open)'),
  tlsCert: value('<path>', 'PEM file of the certificate'),
  tlsKey: value('<path>', 'PEM file of its key'),
  behindTlsProxy: flag('a proxy with TLS is in front, and nobody else reaches this port'),
  publicUrl: value('<url>', 'the address that people and programs use, if it is another one'),
  withProxy: flag('forward calls of the owner API as well, for programs invited with --scope proxy'),
  audit: value('<path>', 'append who got which token, a line of JSON each (- is standard error)'),
  alertWebhook: value('<url>', 'tell there if an account has to sign in again'),
  alertMqtt: value('<url>', 'tell this MQTT server then'),
  alertTopic: value('<topic>', 'below which MQTT topic (default: owner-sso)'),
  scope: value('<name>', 'invite: token, proxy, or both with a comma (default: token)'),
  expires: value('<when>', 'invite: for how long (30d, 12h), or until a date (2030-01-31)'),
  callsPerMinute: value('<number>', 'invite: how often it may call, each broker counting for itself (default: 600)'),
}

export type BrokerFlags = OptionsOf<typeof brokerOptions>

export interface BrokerCall {
  readonly settings: Settings
  readonly options: BrokerFlags
  readonly args: readonly string[]
}
