/**
 * Tells by a webhook: one signed POST. Where it fails it is sent again later (`account-alerts.ts`), with the same
 * `webhook-id`: requests to the SSO service are never repeated, but this one goes to a receiver of one's own.
 */
import { createHmac } from 'node:crypto'
import { checkOptions, kinds, mayCarrySecrets, type OptionRows, withTimeLimit } from '@owner-sso/core'
import { type AlertChannel, alertBody } from './alert.ts'

/** A receiver of signed requests. */
export interface WebhookOptions {
  /** https, or http on a loopback host; without a user name and password. */
  readonly url: string
  /** What it is signed with: 24 to 64 bytes in base64, with or without `whsec_` before it. */
  readonly secret: string
  /** Milliseconds that the receiver may take to answer; default 10,000. */
  readonly timeout?: number
}

const rows: OptionRows<WebhookOptions> = {
  url: kinds.required({
    must: 'an https address, or http on a loopback host',
    fits: (value) => typeof value === 'string' && URL.canParse(value) && mayCarrySecrets(new URL(value)),
  }),
  secret: kinds.any,
  timeout: kinds.milliseconds(1),
}

/**
 * Tells an alert by a signed request.
 *
 * @throws TypeError that names the option
 */
export function webhookAlert(options: WebhookOptions): AlertChannel {
  const { url, secret, timeout = 10_000 } = checkOptions('webhookAlert', options, rows)
  const address = new URL(url)
  if (address.username !== '' || address.password !== '') {
    throw new TypeError('url of a webhook must be without a user name and password: it is signed')
  }
  const key = webhookKey(secret)
  return {
    name: 'webhook',
    async tell(alert) {
      const body = alertBody(alert)
      const response = await withTimeLimit(timeout, (signal) =>
        fetch(address, {
          method: 'POST',
          // A redirect is not followed: only the given address gets the alert.
          redirect: 'manual',
          headers: {
            'content-type': 'application/json',
            'user-agent': 'owner-sso-broker',
            ...signedHeaders(key, alert.id, body),
          },
          body,
          signal,
        }),
      )
      await response.body?.cancel()
      if (!response.ok) throw new Error(`The webhook was answered with ${response.status}.`)
    },
  }
}

/** The bytes of a secret as people keep it: base64, with or without `whsec_` before it. 24 to 64 bytes. @throws TypeError */
function webhookKey(secret: string): Buffer {
  const text = typeof secret === 'string' ? secret.replace(/^whsec_/u, '') : ''
  const key = Buffer.from(text, 'base64')
  // Padded or not; what is after a padding is not decoded.
  const isBase64 = key.toString('base64').replaceAll('=', '') === text.replaceAll('=', '')
  if (isBase64 && key.byteLength >= 24 && key.byteLength <= 64) return key
  throw new TypeError(
    "The secret of a webhook must be 24 to 64 bytes in base64, such as 'openssl rand -base64 32' prints",
  )
}

/** Those of Standard Webhooks 1.0, which libraries of many languages verify. */
function signedHeaders(key: Buffer, id: string, body: string): Record<string, string> {
  const at = String(Math.floor(Date.now() / 1000))
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': `v1,${signature}` }
}
