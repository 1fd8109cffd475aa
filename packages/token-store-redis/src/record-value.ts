/**
 * What is stored under an account's key: a line for the script, then the record in its envelope.
 *
 *     owner-sso/1 7 "3c1e…"          format, version, id of the write
 *     {"account":"…","record":{…}}
 */
import { createHash } from 'node:crypto'
import { StoreError, type TokenRecord, type UnreadWrite, type Versioned } from '@owner-sso/token-manager'
import { hashOfAccount } from '@owner-sso/token-manager/support'

/**
 * The key of an account. The braces make it one hash slot, whatever is stored with it later; the hash tells nothing of
 * the account.
 */
export function keyOf(prefix: string, account: string): string {
  return `${prefix}{${hashOfAccount(account)}}`
}

/** A write id as the header holds it: on one line, whatever is in it. */
export const idInHeader = (writeId: string): string => JSON.stringify(writeId)

/** `undefined` for what is not one. */
function idOf(header: string): string | undefined {
  try {
    const id: unknown = JSON.parse(header)
    return typeof id === 'string' ? id : undefined
  } catch {
    return undefined
  }
}

export function encode(account: string, version: number, record: TokenRecord, writeId: string): string {
  return `owner-sso/1 ${version} ${idInHeader(writeId)}\n${JSON.stringify({ account, record })}`
}

/**
 * @param key - where the value is stored; the account in it has to be the key's
 * @throws StoreError `corrupt` for what this store did not write
 */
export function decode(value: string, key: string): Versioned & { readonly account: string } {
  const [, version, id] = /^owner-sso\/1 ([1-9]\d{0,15}) ([^\n]*)\n/u.exec(value) ?? []
  const writeId = id === undefined ? undefined : idOf(id)
  const envelope = writeId === undefined ? undefined : parse(value.slice(value.indexOf('\n') + 1))
  if (envelope && key === keyOf(key.slice(0, key.lastIndexOf('{')), envelope.account)) {
    return { version: Number(version), writeId, record: envelope.record, account: envelope.account }
  }
  const isHeaded = version !== undefined && writeId !== undefined
  throw notOurs(key, isHeaded ? { version: Number(version), writeId } : { version: 0, writeId: idOfForeign(value) })
}

/**
 * Stands for the write id of a value without our header: a swap that expects it comes from a process that has read this very
 * value.
 */
const idOfForeign = (value: string): string => createHash('sha1').update(value).digest('hex')

export function notOurs(key: string, unread?: UnreadWrite): StoreError {
  const message = `The value under the Redis key ${key} is not a record of this store. It was left as it is: remove it and sign in again.`
  return new StoreError('corrupt', message, { unread })
}

function parse(text: string): { readonly account: string; readonly record: TokenRecord } | undefined {
  try {
    const { account, record }: { account?: unknown; record?: TokenRecord } = Object(JSON.parse(text))
    const isRecord = typeof record === 'object' && record !== null && !Array.isArray(record)
    return typeof account === 'string' && isRecord ? { account, record } : undefined
  } catch {
    return undefined
  }
}
