/**
 * Pending logins sealed into the person's session, so that any instance of the application can finish them.
 *
 * AES-256-GCM: whoever reads the session store learns nothing, whoever changes it gets nothing but an expired sign-in.
 */
import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'
import type { TokenManager } from '@owner-sso/core'
import { LRUCache } from 'lru-cache'
import type { PendingLogins } from './pending-logins.ts'
import { isOver, type KeptLogin } from './pending-login.ts'

/** Binds a seal to its purpose and format: what the same key sealed for another purpose can't be opened here. */
const purpose = Buffer.from('owner-sso:pending-login:1')
const nonceLength = 12
const tagLength = 16

/** Seals opened at a time that are remembered. */
const limit = 100_000

/**
 * Seals with a key of 32 bytes, which all instances share.
 *
 * The session of a request is a copy: requests sent at once all find the same seal in it. So each seal is answered once: a
 * login goes on only with the seal that the try before it left behind.
 *
 * @param claim - decides that for all instances: see `TokenManager.claimTry`
 */
export function sealedPendingLogins(keyBytes: Uint8Array, claim: TokenManager['claimTry']): PendingLogins {
  const key = createSecretKey(keyBytes)
  /** What this process itself knows to be answered. */
  const triesTaken = new LRUCache<string, number>({ max: limit })
  const peek = (handle: string): KeptLogin | undefined => {
    const login = unseal(handle, key)
    return login && !isOver(login) && login.tries > (triesTaken.get(login.id) ?? -1) ? login : undefined
  }
  return {
    keep: (login) => seal(login, key),
    peek,
    async take(handle) {
      const login = peek(handle)
      if (login === undefined) return undefined
      triesTaken.set(login.id, login.tries)
      const { id, step, tries, expires_at } = login
      return (await claim({ id, step, tries, expires_at })) ? login : undefined
    },
  }
}

function seal(login: KeptLogin, key: KeyObject): string {
  const nonce = randomBytes(nonceLength)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, { authTagLength: tagLength }).setAAD(purpose)
  return Buffer.concat([nonce, cipher.update(JSON.stringify(login)), cipher.final(), cipher.getAuthTag()]).toString(
    'base64url',
  )
}

/** `undefined` for anything that this key did not seal. */
function unseal(handle: string, key: KeyObject): KeptLogin | undefined {
  const sealed = Buffer.from(handle, 'base64url')
  if (sealed.length < nonceLength + tagLength) return undefined
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, nonceLength), { authTagLength: tagLength })
  decipher.setAAD(purpose).setAuthTag(sealed.subarray(-tagLength))
  try {
    const text = Buffer.concat([decipher.update(sealed.subarray(nonceLength, -tagLength)), decipher.final()])
    const login: KeptLogin = JSON.parse(text.toString())
    return login
  } catch {
    return undefined
  }
}
