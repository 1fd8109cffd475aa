/**
 * The key that signs access and id tokens: real JWTs (ES256), one key a process, made on first use.
 */
import {
  exportJWK,
  generateKeyPair,
  SignJWT,
  type GenerateKeyPairResult,
  type JSONWebKeySet,
  type JWTPayload,
} from 'jose'

const keyId = 'owner-sso-emulator'

let keyPair: Promise<GenerateKeyPairResult> | undefined

function signingKey(): Promise<GenerateKeyPairResult> {
  keyPair ??= generateKeyPair('ES256')
  return keyPair
}

export async function signToken(claims: JWTPayload): Promise<string> {
  const { privateKey } = await signingKey()
  return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid: keyId }).sign(privateKey)
}

/** The public half, for whoever verifies. */
export async function publicKeys(): Promise<JSONWebKeySet> {
  const { publicKey } = await signingKey()
  return { keys: [{ ...(await exportJWK(publicKey)), kid: keyId, alg: 'ES256', use: 'sig' }] }
}
