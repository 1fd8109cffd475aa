/**
 * How a webhook is signed: the scheme of Standard Webhooks 1.0, which libraries of many languages verify.
 *
 * Signed is `<id>.<timestamp>.<body>`, with HMAC-SHA256; the signature is `v1,` and its base64.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'

import { checkOption, kinds } from '@owner-sso/core'

/** Seconds that a webhook may be old (or early) when it is verified. */
const tolerance = 300

/** The bytes of a secret as people keep it: base64, with or without `whsec_` before it. 24 to 64 bytes. @throws TypeError */
export function webhookKey(secret: string): Buffer {
  const text = typeof secret === 'string' ? secret.replace(/^whsec_/u, '') : ''
  const key = Buffer.from(text, 'base64')
  // Padded or not; what is after a padding is not decoded.
  const isBase64 = key.toString('base64').replaceAll('=', '') === text.replaceAll('=', '')
  const isRight = isBase64 && key.byteLength >= 24 && key.byteLength <= 64
  if (!isRight) {
    throw new TypeError(
      "The secret of a webhook must be 24 to 64 bytes in base64, such as 'openssl rand -base64 32' prints",
    )
  }
  return key
}

/** The headers of a signed webhook. @param at - seconds since the epoch */
export function signedHeaders(key: Buffer, id: string, at: number, body: string): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${signature(key, id, String(at), body).toString('base64')}`,
  }
}

/**
 * Whether a webhook is from whoever has the secret, and new; for receivers that are written in JavaScript. Compared in
 * constant time.
 *
 * @param headers - as Node gives them, in small letters
 * @param body - as it was received, before it is parsed
 * @param now - seconds since the epoch
 * @throws TypeError for a `secret` that is none, and for headers or a body that are missing or were parsed
 */
export function isSignedWebhook(
  secret: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: string,
  now: number = Date.now() / 1000,
): boolean {
  const key = webhookKey(secret)
  checkOption('headers', kinds.having('an object, as Node gives it'), headers)
  checkOption('body', { ...kinds.text, must: 'text, as it was received' }, body)
  // Without a number as its timestamp, a webhook can't be checked for its age.
  checkOption('now', kinds.number('seconds since the epoch'), now)
  const [id = '', at = '', signatures = ''] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    String(headers[name] ?? ''),
  )
  if (!/^\d{1,12}$/u.test(at) || Math.abs(now - Number(at)) > tolerance) return false
  const right = signature(key, id, at, body)
  return signatures.split(' ').some((entry) => {
    const [version, text = ''] = entry.split(',')
    const sent = Buffer.from(text, 'base64')
    return version === 'v1' && sent.byteLength === right.byteLength && timingSafeEqual(sent, right)
  })
}

function signature(key: Buffer, id: string, at: string, body: string): Buffer {
  return createHmac('sha256', key).update(`${id}.${at}.${body}`).digest()
}
