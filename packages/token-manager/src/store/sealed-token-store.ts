/**
 * `withEncryption`: encryption at rest over any store, with AES-256-GCM (NIST SP 800-38D).
 *
 * A record is bound to its account and version: moved to another place, it opens no more. Names of accounts and versions
 * stay readable, and so does the fact that a record changed.
 */
import { types } from 'node:util'
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { StoreError, type StoreErrorReason } from '../errors.ts'
import { isPlainRecord, isRecord, refuseNewer } from './record-check.ts'
import type { SealedRecord, TokenRecord } from './token-record.ts'
import { isStore, whatCame } from '../support/options.ts'
import type { TokenStore, Versioned } from './token-store.ts'

/**
 * A store's option: 32 random bytes; or several such keys, of which the first seals and all open, while a key is being changed
 * (`rekey` writes every record again at once).
 */
export type EncryptionKey = Uint8Array | readonly Uint8Array[]

/**
 * A store whose records are sealed with AES-256-GCM before they reach the one underneath, each bound to its account and version.
 *
 * @param store - holds sealed records from now on. A record that is not sealed is refused, not read: copy an unsealed store
 *   into a new one with `copyTokenSets`.
 * @returns the store itself where no key is given
 * @throws TypeError for a key of another length
 */
export function withEncryption(store: TokenStore, encryptionKey: EncryptionKey | undefined): TokenStore {
  if (!isStore(store)) throw new TypeError(`store must be a token store${whatCame(store)}`)
  if (encryptionKey === undefined) return store
  const [sealing, ...older] = keysOf(encryptionKey)
  const opening = new Map([sealing, ...older].map((key) => [key.id, key]))
  const sealedStore: TokenStore = {
    async read(account) {
      const stored = await store.read(account)
      return stored && { ...stored, record: open(stored, account, opening) }
    },
    async swap(account, expected, next, writeId, options) {
      const swapped = await store.swap(account, expected, seal(next, account, expected + 1, sealing), writeId, options)
      return 'conflict' in swapped ? swapped : { ...swapped, record: next }
    },
    ...(store.accounts && { accounts: store.accounts.bind(store) }),
    ...(store.watch && { watch: store.watch.bind(store) }),
  }
  return Object.assign(sealedStore, { [sealedMark]: true })
}

/** A symbol of all copies of core, which a spread copy has too. */
const sealedMark = Symbol.for('@owner-sso/core sealed token store')

/** Whether a store seals by `withEncryption`; what a store of somebody else's does by itself can't be told. */
export const isSealed = (store: TokenStore): boolean => sealedMark in store

/** Bytes. */
const keyLength = 32

interface SealingKey {
  /** Names the key without revealing it, so that a wrong key is not mistaken for a damaged record. */
  readonly id: string
  readonly key: KeyObject
}

/** @throws TypeError */
function keysOf(given: EncryptionKey): [SealingKey, ...SealingKey[]] {
  const keys: readonly unknown[] = Array.isArray(given) ? given : [given]
  const [first, ...rest] = keys.filter(isKey).map(sealingKey)
  if (first !== undefined && rest.length === keys.length - 1) return [first, ...rest]
  const wrong = keys.find((key) => !isKey(key))
  throw new TypeError(
    `encryptionKey must be 32 random bytes, or a list of such keys with the newest first${whatKeyCame(wrong)}`,
  )
}

/** Of any realm: tests run in one of their own. */
const isKey = (key: unknown): key is Uint8Array => types.isUint8Array(key) && key.byteLength === keyLength

/** What it is, and what makes a key of it; never what is in it. */
function whatKeyCame(key: unknown): string {
  const isBytes = types.isUint8Array(key)
  if (typeof key !== 'string' && !isBytes) return whatCame(key)
  const text = isBytes ? Buffer.from(key).toString('latin1') : key
  const encoding = (['hex', 'base64'] as const).find((each) => isTextOfKey(text, each))
  const remedy = encoding === undefined ? '' : `: write Buffer.from(text, '${encoding}')`
  return isBytes ? `; ${key.byteLength} bytes came${remedy}` : `; text came${remedy}`
}

function isTextOfKey(text: string, encoding: 'hex' | 'base64'): boolean {
  const form = encoding === 'hex' ? /^[\da-f]{64}$/iu : /^[\w+/-]{43}=?$/u
  return form.test(text.trim()) && Buffer.from(text.trim(), encoding).byteLength === keyLength
}

function sealingKey(bytes: Uint8Array): SealingKey {
  const id = createHmac('sha256', bytes).update('owner-sso key id').digest('base64url').slice(0, 12)
  return { id, key: createSecretKey(bytes) }
}

function seal(record: TokenRecord, account: string, version: number, { id, key }: SealingKey): SealedRecord {
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(place(account, version))
  const parts = [cipher.update(JSON.stringify(record), 'utf8'), cipher.final(), cipher.getAuthTag()]
  const sealed = Buffer.concat(parts).toString('base64url')
  return { schema: 1, state: 'sealed', key: id, nonce: nonce.toString('base64url'), sealed }
}

/** @throws StoreError `wrong-key` for another key's record, `newer-release` for another form of sealing, `not-sealed` for one that never was, `corrupt` for one that was changed or moved */
function open(
  { version, writeId, record }: Versioned,
  account: string,
  keys: ReadonlyMap<string, SealingKey>,
): TokenRecord {
  const unread = { version, writeId }
  const problem = (reason: StoreErrorReason, sentence: string): StoreError =>
    new StoreError(reason, sentence, { unread })
  if (!isRecord(record, 'sealed')) {
    refuseNewer(record, unread)
    if (!isPlainRecord(record))
      throw problem('corrupt', 'The token store holds something that is not a sealed record. It was left as it is.')
    const remedy = 'seal the store where it is with owner-sso rekey, or leave out the key.'
    throw problem('not-sealed', `The record is not sealed, since it was stored without a key: ${remedy}`)
  }
  const key = keys.get(record.key)
  if (key === undefined) throw problem('wrong-key', 'The record was sealed with a key that is not among the keys.')
  try {
    const bytes = Buffer.from(record.sealed, 'base64url')
    const nonce = Buffer.from(record.nonce, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', key.key, nonce, { authTagLength: 16 })
    decipher.setAAD(place(account, version)).setAuthTag(bytes.subarray(-16))
    const text = Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString('utf8')
    const opened: TokenRecord = JSON.parse(text)
    return opened
  } catch {
    throw problem('corrupt', 'The sealed record was changed, or belongs to another account or version.')
  }
}

/** The associated data: schema, version and account. Only the last may hold anything, so no two places read alike. */
function place(account: string, version: number): Buffer {
  return Buffer.from(`owner-sso record 1 ${version} ${account}`, 'utf8')
}
