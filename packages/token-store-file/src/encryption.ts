/**
 * The option `encryptionKey`: records are sealed before they are written, by core's `sealedTokenStore`.
 */
import { sealedTokenStore, type TokenStore } from '@owner-sso/core'

/** 32 random bytes; or several such keys, of which the first seals and all open, while a key is being changed. */
export type EncryptionKey = Uint8Array | readonly Uint8Array[]

let warned = false

/** @throws TypeError for a key of another length */
export function sealed(store: TokenStore, encryptionKey: EncryptionKey | undefined): TokenStore {
  if (encryptionKey !== undefined) return sealedWith(store, encryptionKey)
  if (!warned) {
    const message =
      'Token sets are stored unencrypted, in files that this user and root can read. Give fileTokenStore an encryptionKey to seal them.'
    process.emitWarning(message, { type: 'SecurityWarning', code: 'OWNER_SSO_UNSEALED' })
  }
  warned = true
  return store
}

function sealedWith(store: TokenStore, encryptionKey: EncryptionKey): TokenStore {
  try {
    return sealedTokenStore(store, { keys: [encryptionKey].flat() })
  } catch {
    throw new TypeError('encryptionKey must be 32 random bytes, or a list of such keys with the newest first')
  }
}
