/**
 * The option `encryptionKey`: records are sealed before they are sent, by core's `sealedTokenStore`.
 */
import { sealedTokenStore, type TokenStore } from '@owner-sso/core'

/** 32 random bytes; or several such keys, of which the first seals and all open, while a key is being changed. */
export type EncryptionKey = Uint8Array | readonly Uint8Array[]

/** @throws TypeError for a key of another length */
export function sealed(store: TokenStore, encryptionKey: EncryptionKey | undefined): TokenStore {
  if (encryptionKey === undefined) return store
  try {
    return sealedTokenStore(store, { keys: [encryptionKey].flat() })
  } catch {
    throw new TypeError('encryptionKey must be 32 random bytes, or a list of such keys with the newest first')
  }
}
