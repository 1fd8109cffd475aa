/**
 * Tells by a webhook: one signed POST. Where it fails it is sent again later (`account-alerts.ts`), with the same
 * `webhook-id`: requests to the SSO service are never repeated, but this one goes to a receiver of one's own.
 */
import { checkOptions, kinds, mayCarrySecrets, type OptionRows, withTimeLimit } from '@owner-sso/core'
import { type AlertChannel, alertBody } from './alert.ts'
import { signedHeaders, webhookKey } from './signature.ts'

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
            ...signedHeaders(key, alert.id, Math.floor(Date.now() / 1000), body),
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
