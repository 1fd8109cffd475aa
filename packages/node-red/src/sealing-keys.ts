/**
 * What tokens are sealed with: Node-RED's credential secret, as its own file of credentials is.
 */
import { hkdfSync } from 'node:crypto'
import { StoreError } from '@owner-sso/core'
import type { NodeRed } from './node-red.ts'

/**
 * The newest first: until its next deploy, Node-RED keeps the secret that it had made itself beside one of the user's.
 *
 * @throws StoreError where there is none: nothing is kept unsealed
 */
export function sealingKeys({ settings }: NodeRed): [Uint8Array, ...Uint8Array[]] {
  const secrets = ['credentialSecret', '_credentialSecret'].map((name) => settings.get(name))
  const [first, ...older] = secrets.flatMap((secret) =>
    typeof secret === 'string' && secret !== ''
      ? [new Uint8Array(hkdfSync('sha256', secret, '', 'owner-sso', 32))]
      : [],
  )
  if (first !== undefined) return [first, ...older]
  throw new StoreError(
    'unavailable',
    'Node-RED has no secret to seal tokens with: set credentialSecret in settings.js.',
  )
}

/** A key that other programs seal with too, as `OWNER_SSO_ENCRYPTION_KEY` has it. @throws TypeError */
export function sharedKey(base64: string): Uint8Array {
  const key = Buffer.from(base64, 'base64')
  if (key.byteLength !== 32) throw new TypeError('The key must be 32 random bytes in base64: openssl rand -base64 32')
  return key
}
