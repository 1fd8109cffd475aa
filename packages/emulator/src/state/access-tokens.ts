/**
 * Access and id tokens: issued, looked up by the owner API, and revoked early.
 */
import { randomUUID } from 'node:crypto'
import type { Account } from './accounts.ts'
import { fixedScope } from './authorization-request.ts'
import type { Clock } from './clock.ts'
import { createExpiringMap } from './expiring-map.ts'
import { issuerOf, type Instance } from '../http/instances.ts'
import { randomText } from './sessions.ts'
import { clientIdOf, isCurrent } from './strictness.ts'
import {
  exportJWK,
  generateKeyPair,
  SignJWT,
  type GenerateKeyPairResult,
  type JSONWebKeySet,
  type JWTPayload,
} from 'jose'
import type { EmulatorSettings } from '../options/check-options.ts'

const maxTokens = 50_000

export interface AccessToken {
  readonly account: Account
  readonly family: string
  readonly minting: Minting | undefined
  readonly isRefreshed: boolean
  /** The owner API that it is for, of a registered application; undefined: of any other client. */
  readonly audience: string | undefined
  /** Seconds since the epoch. */
  readonly issuedAt: number
  revoked: boolean
}

export type AccessTokens = ReturnType<typeof createAccessTokens>

export function createAccessTokens(clock: Clock, settings: EmulatorSettings) {
  const tokens = createExpiringMap<AccessToken>({
    clock,
    lifetime: () => settings.accessTokenLifetime,
    max: maxTokens,
  })
  return {
    /** `minting` is undefined for tokens that no request asked for. */
    async issue(
      account: Account,
      family: string,
      instance: Instance,
      { minting, isRefreshed, audience }: Pick<AccessToken, 'minting' | 'isRefreshed' | 'audience'>,
    ) {
      const clientId = clientIdOf(settings)
      const iat = Math.floor(clock.now())
      const claims = {
        iss: issuerOf(instance),
        sub: account.subject,
        iat,
        exp: iat + settings.accessTokenLifetime,
        azp: clientId,
      }
      const [accessToken, idToken] = await Promise.all([
        settings.accessTokenFormat === 'opaque'
          ? randomText(48)
          : signToken({
              ...claims,
              aud: [issuerOf(instance), audience ?? 'owner-api'],
              jti: randomUUID(),
              scp: fixedScope.split(' '),
            }),
        signToken({ ...claims, aud: clientId, jti: randomUUID(), email: account.identity, email_verified: true }),
      ])
      tokens.set(accessToken, { account, family, minting, isRefreshed, audience, issuedAt: iat, revoked: false })
      return { accessToken, idToken }
    },
    find(token: string): AccessToken | undefined {
      const found = tokens.get(token)
      return found?.revoked ? undefined : found
    },
    revoke(matches: (token: AccessToken) => boolean): number {
      const live = [...tokens.alive()].filter((token) => !token.revoked && matches(token))
      for (const token of live) token.revoked = true
      return live.length
    },
  }
}

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

export async function publicKeys(): Promise<JSONWebKeySet> {
  const { publicKey } = await signingKey()
  return { keys: [{ ...(await exportJWK(publicKey)), kid: keyId, alg: 'ES256', use: 'sig' }] }
}

/** Versions of the connection that a token was issued on; undefined for one that no request asked for. */
export interface Minting {
  readonly tlsVersion: string | undefined
  readonly httpVersion: string
}

/** The two versions of a request's connection; nothing else of the request is kept. */
export function mintingOf({ tlsVersion, httpVersion }: Minting): Minting {
  return { tlsVersion, httpVersion }
}

export function describeMinting(minting: Minting | undefined): string {
  if (!minting) return 'issued by hand'
  return `${minting.tlsVersion ?? 'plain http'}, HTTP/${minting.httpVersion}`
}

/** Whether the owner API takes a token. One that no request asked for is always taken. */
export function isTaken(
  minting: Minting | undefined,
  settings: Pick<EmulatorSettings, 'mintedBy' | 'service'>,
): boolean {
  const rules = settings.mintedBy
  if (!minting || rules === null) return true
  if (rules === undefined)
    return !isCurrent(settings) || minting.tlsVersion !== 'TLSv1.2' || minting.httpVersion !== '1.1'
  const { tls = minting.tlsVersion, http = minting.httpVersion } = rules
  return tls === minting.tlsVersion && http === minting.httpVersion
}
