/**
 * Tells by a webhook: one signed POST. Where it fails it is sent again later (`account-alerts.ts`), with the same
 * `webhook-id`: requests to the SSO service are never repeated, but this one goes to a receiver of one's own.
 */
import { checkOptionNames, mayCarrySecrets, withTimeLimit } from '@owner-sso/core'
import { kindOf, longestTimer, requireNumber, requireOption } from '../given/given.ts'
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

/**
 * Tells an alert by a signed request.
 *
 * @throws TypeError that names the option
 */
export function webhookAlert(options: WebhookOptions): AlertChannel {
  checkOptionNames('webhookAlert', options, { url: true, secret: true, timeout: true })
  const { url, secret, timeout = 10_000 } = options
  const address = URL.canParse(url) ? new URL(url) : undefined
  // There may be a password in it.
  const must = 'url of a webhook must be an https address, or http on a loopback host'
  requireOption(address !== undefined, must, kindOf(url))
  requireOption(mayCarrySecrets(address), must, `${address.protocol}//${address.host}`)
  if (address.username !== '' || address.password !== '') {
    throw new TypeError('url of a webhook must be without a user name and password: it is signed')
  }
  requireNumber('timeout', timeout, 'milliseconds above 0', 1, longestTimer)
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
