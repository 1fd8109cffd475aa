/**
 * The content of a version file: a checksum, then the record in its envelope.
 *
 * The checksum tells a whole file from a torn one; it is no protection against somebody who can write here, which is what
 * the folder's mode and an encryption key are for. The envelope says which account and slot it was written for, so that a
 * file that was moved fails as well.
 */
import { createHash } from 'node:crypto'
import { StoreError, type TokenRecord } from '@owner-sso/token-manager'
import { hashOfAccount } from '@owner-sso/token-manager/support'

export interface Envelope {
  /** Of this format. */
  readonly schema: 1
  readonly account: string
  /** The place of the file among the account's: `t.<slot>`. */
  readonly slot: number
  /** The record's, as `TokenStore` counts. */
  readonly version: number
  readonly writeId: string
  /** The files before it have to go; whoever finds one next to it removes it. */
  readonly forgetOlder?: true
  readonly record: TokenRecord
}

/** A version file may have this many bytes; a larger one is not read. */
export const sizeLimit: number = 4 * 1024 * 1024

const checksumLength = 43

export function encode(envelope: Envelope): Uint8Array {
  const body = JSON.stringify(envelope)
  const content = Buffer.from(`${checksumOf(body)}\n${body}`)
  if (content.byteLength <= sizeLimit) return content
  throw new StoreError('write-failed', `The record is larger than ${sizeLimit} bytes. Nothing was written.`)
}

/**
 * The envelope, or `undefined` where the content is not what was written for this account and slot.
 *
 * @throws StoreError `newer-release` for a whole file in a format of a later release: to fall back to an older record would
 *   bring back a refresh token that is spent.
 */
export function decode(content: Uint8Array, key: string, slot: number): Envelope | undefined {
  const text = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  const body = text.subarray(checksumLength + 1)
  if (text.toString('latin1', 0, checksumLength + 1) !== `${checksumOf(body)}\n`) return undefined
  const envelope: Envelope = JSON.parse(body.toString())
  if (envelope.schema !== 1) {
    const remedy = 'Update this one. Don’t remove the record: its account may be signed in.'
    throw new StoreError('newer-release', `The folder holds a record of a newer release of owner-sso. ${remedy}`)
  }
  return envelope.slot === slot && hashOfAccount(envelope.account) === key ? envelope : undefined
}

function checksumOf(body: string | Uint8Array): string {
  return createHash('sha256').update(body).digest('base64url')
}
