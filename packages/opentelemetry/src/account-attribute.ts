/**
 * An account as an attribute, for those who ask for it: not its name, which is a person's e-mail address.
 */
import { createHmac } from 'node:crypto'
import { types } from 'node:util'
import type { Attributes } from '@opentelemetry/api'

export type AccountAttribute = (account: string | undefined) => Attributes

/** @throws TypeError for a key that is none, or is easily guessed */
export function accountAttribute(key: string | Uint8Array | undefined): AccountAttribute {
  if (key === undefined) return () => ({})
  const isKey = (typeof key === 'string' || types.isUint8Array(key)) && Buffer.from(key).byteLength >= 16
  if (!isKey) throw new TypeError('accountKey must be a string or bytes, 16 or more')
  return (account) => {
    if (account === undefined) return {}
    return { 'owner_sso.account': createHmac('sha256', key).update(account).digest('hex').slice(0, 32) }
  }
}
