/**
 * `instrumentOwnerSso`: gives what owner-sso tells on its diagnostics channels to OpenTelemetry, as spans and metrics.
 */
import { createHmac } from 'node:crypto'
import { types } from 'node:util'
import { metrics, trace } from '@opentelemetry/api'
import { measure } from './measurements.ts'
import { type AccountAttribute, traceCalls } from './spans.ts'

/** What spans tell in addition. */
export interface InstrumentationOptions {
  /**
   * Puts an account on spans, as the attribute `owner_sso.account`: an HMAC-SHA256 of its name with this key, of 16 bytes or more,
   * the first 32 hexadecimal digits of it. Who has the key can tell whose it is. Default: no span says whose it is.
   */
  readonly accountKey?: string | Uint8Array | undefined
}

const scope = '@owner-sso/opentelemetry'

/**
 * Begins spans and metrics of all logins, token managers and proxies of this process, whichever are made before or after. Call it
 * once, after the SDK was started: metrics go to the meter provider that is registered by then.
 *
 * @returns what ends it; the second time it does nothing
 * @throws TypeError naming the option that is wrong
 */
export function instrumentOwnerSso(options: InstrumentationOptions = {}): () => void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new TypeError('instrumentOwnerSso takes an object with accountKey')
  }
  const { accountKey, ...unknown } = options
  for (const name of Object.keys(unknown)) {
    throw new TypeError(`${name} is not an option of instrumentOwnerSso. There is accountKey`)
  }
  const attributeOf = accountAttribute(accountKey)
  const ends = [...traceCalls(trace.getTracer(scope), attributeOf), ...measure(metrics.getMeter(scope))]
  return () => ends.splice(0).forEach((end) => end())
}

/** @throws TypeError for a key that is none, or is easily guessed */
function accountAttribute(key: string | Uint8Array | undefined): AccountAttribute {
  if (key === undefined) return () => ({})
  const isKey = (typeof key === 'string' || types.isUint8Array(key)) && Buffer.from(key).byteLength >= 16
  if (!isKey) throw new TypeError('accountKey must be a string or bytes, 16 or more')
  return (account) => {
    if (account === undefined) return {}
    return { 'owner_sso.account': createHmac('sha256', key).update(account).digest('hex').slice(0, 32) }
  }
}
