/**
 * Tells by MQTT, for Home Assistant and the like. The message is retained, so who looks later still sees how an account
 * stands: one topic for each.
 *
 * The client is the package `mqtt`, which the application installs; it is loaded with the first alert.
 */
import { readFile } from 'node:fs/promises'
import { answeredInTime, checkOptions, isLoopback, kinds, type OptionRows } from '@owner-sso/core'
import { type AlertChannel, alertBody } from './alert.ts'

/** A broker of MQTT, and what is told there. */
export interface MqttOptions {
  /** `mqtts:` (or `wss:`), or `mqtt:` on a loopback host; without a user name and password. */
  readonly url: string
  readonly username?: string | undefined
  readonly password?: string | undefined
  /** Each account's topic is below this one; default `owner-sso`. */
  readonly topic?: string
  /** Path of a PEM file with a private CA. */
  readonly ca?: string
  /** Milliseconds for the connection, and again for the message; default 10,000. */
  readonly timeout?: number
}

const rows: OptionRows<MqttOptions> = {
  url: kinds.required({ must: 'an mqtts address, or mqtt on a loopback host', fits: isUrlOfMqtt }),
  username: kinds.text,
  password: kinds.text,
  topic: {
    must: 'a topic without wildcards, such as owner-sso',
    fits: (value) => typeof value === 'string' && value !== '' && !/[+#\0]|^\$|\/$/u.test(value),
  },
  ca: kinds.path,
  timeout: kinds.milliseconds(1),
}

function isUrlOfMqtt(value: unknown): boolean {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  return url?.protocol === 'mqtts:' || url?.protocol === 'wss:' || (url?.protocol === 'mqtt:' && isLoopback(url))
}

/**
 * Tells an alert to a topic of MQTT.
 *
 * @throws TypeError that names the option
 */
export function mqttAlert(options: MqttOptions): AlertChannel {
  const { url, topic = 'owner-sso', ca, timeout = 10_000, ...login } = checkOptions('mqttAlert', options, rows)
  const address = new URL(url)
  if (address.username !== '' || address.password !== '') {
    throw new TypeError('url of MQTT must be without a user name and password: give username and password')
  }
  return {
    name: 'mqtt',
    async tell(alert) {
      const { connectAsync } = await loadClient()
      // One connection, one message; who tries again is not the client.
      const once = { connectTimeout: timeout, reconnectPeriod: 0 }
      const named = Object.fromEntries(Object.entries(login).filter(([, each]) => each !== undefined))
      const trusted = ca === undefined ? {} : { ca: await readFile(ca) }
      const client = await connectAsync(url, { ...once, ...named, ...trusted }, false)
      client.on('error', () => undefined)
      try {
        const message = { qos: 1, retain: true } as const
        // What has a meaning in topics (`+`, `#`, `/`, `$`) is percent-encoded in an account's name.
        const place = `${topic}/${encodeURIComponent(alert.account).replaceAll('%40', '@')}`
        await answeredInTime(timeout, () => client.publishAsync(place, alertBody(alert), message), late)
      } finally {
        await client.endAsync(true)
      }
    },
  }
}

const late = (): Error => new DOMException('The message was not taken in time.', 'TimeoutError')

async function loadClient(): Promise<typeof import('mqtt')> {
  try {
    return await import('mqtt')
  } catch (error) {
    // Only what is not there can be installed.
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error
    throw new Error('MQTT needs the package mqtt: npm install mqtt', { cause: error })
  }
}
