/**
 * `sealedTokenStore`: encryption at rest over any store, with AES-256-GCM (NIST SP 800-38D).
 *
 * A record is bound to its account and version: moved to another place, it opens no more. Names of accounts and versions
 * stay readable, and so does the fact that a record changed.
 */
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import { StoreError } from '../errors.ts'
import { checkOptionNames } from '../support/known-options.ts'
import { isRecord, refuseNewer } from './record-check.ts'
import type { SealedRecord, TokenRecord } from './token-record.ts'
import type { TokenStore, Versioned } from './token-store.ts'

/** With what a store is sealed. */
export interface SealedTokenStoreOptions {
  /**
   * Keys of 32 random bytes. The first one seals; all of them open, so a key is changed by putting the new one in front and
   * leaving the old one until every record has been written again (`rekey` does so at once).
   */
  readonly keys: readonly Uint8Array[]
}

/**
 * A store whose records are sealed with AES-256-GCM before they reach the one underneath, each bound to its account and version.
 *
 * @param store - holds sealed records from now on. A record that is not sealed is refused, not read: copy an unsealed store
 *   into a new one with `copyTokenSets`.
 * @throws TypeError naming the option that is wrong
 */
export function sealedTokenStore(store: TokenStore, given: SealedTokenStoreOptions): TokenStore {
  checkOptionNames('sealedTokenStore', given, { keys: true })
  const [sealing, ...older] = keysOf(given.keys)
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

/** A store's option: 32 random bytes; or several such keys, of which the first seals and all open, while a key is being changed. */
export type EncryptionKey = Uint8Array | readonly Uint8Array[]

/**
 * The option `encryptionKey` of a store.
 *
 * @returns the store itself where no key is given, else {@link sealedTokenStore} over it
 * @throws TypeError for a key of another length
 */
export function withEncryption(store: TokenStore, encryptionKey: EncryptionKey | undefined): TokenStore {
  if (encryptionKey === undefined) return store
  try {
    return sealedTokenStore(store, { keys: [encryptionKey].flat() })
  } catch {
    throw new TypeError('encryptionKey must be 32 random bytes, or a list of such keys with the newest first')
  }
}

/** A symbol of all copies of core, which a spread copy has too. */
const sealedMark = Symbol.for('@owner-sso/core sealed token store')

/** Whether a store seals by `sealedTokenStore`; what a store of somebody else's does by itself can't be told. */
export const isSealed = (store: TokenStore): boolean => sealedMark in store

interface SealingKey {
  /** Names the key without revealing it, so that a wrong key is not mistaken for a damaged record. */
  readonly id: string
  readonly key: KeyObject
}

function keysOf(keys: readonly Uint8Array[]): [SealingKey, ...SealingKey[]] {
  const valid = Array.isArray(keys) && keys.every((key) => key instanceof Uint8Array && key.byteLength === 32)
  const [first, ...rest] = valid ? keys.map(sealingKey) : []
  if (first === undefined) throw new TypeError('keys must be one or more keys of 32 bytes each')
  return [first, ...rest]
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

/** @throws StoreError `wrong-key` for another key's record, `newer-release` for another form of sealing, `corrupt` for one that was changed, moved or never sealed */
function open(
  { version, writeId, record }: Versioned,
  account: string,
  keys: ReadonlyMap<string, SealingKey>,
): TokenRecord {
  const unread = { version, writeId }
  if (!isRecord(record, 'sealed')) {
    refuseNewer(record, unread)
    throw new StoreError('corrupt', 'The record is not sealed. Was the store used without keys?', { unread })
  }
  const key = keys.get(record.key)
  if (key === undefined)
    throw new StoreError('wrong-key', 'The record was sealed with a key that is not among the keys.', { unread })
  try {
    const bytes = Buffer.from(record.sealed, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', key.key, Buffer.from(record.nonce, 'base64url'), {
      authTagLength: 16,
    })
    decipher.setAAD(place(account, version)).setAuthTag(bytes.subarray(-16))
    const text = Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString('utf8')
    const opened: TokenRecord = JSON.parse(text)
    return opened
  } catch {
    throw new StoreError('corrupt', 'The sealed record was changed, or belongs to another account or version.', {
      unread,
    })
  }
}

/** The associated data: schema, version and account. Only the last may hold anything, so no two places read alike. */
function place(account: string, version: number): Buffer {
  return Buffer.from(`owner-sso record 1 ${version} ${account}`, 'utf8')
}
