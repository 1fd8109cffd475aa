/** openid-client with a person at the login page: the parts of its configuration that the service doesn't publish. */
import type { Emulator } from '@owner-sso/emulator'
import * as client from 'openid-client'
import type { PeerClient } from './peer-client.ts'
import { namesOf } from './wire.ts'

export const SCOPE = 'openid email offline_access'

/** The service publishes no discovery document: what it would say, by hand. */
export function serverAt(authUrl: string, keysUrl?: string): client.ServerMetadata {
  const issuer = `${authUrl}/oauth2/v3`
  const endpoints = { authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` }
  return { issuer, ...endpoints, ...(keysUrl !== undefined && { jwks_uri: keysUrl }) }
}

export function configure(server: client.ServerMetadata): client.Configuration {
  const metadata = { id_token_signed_response_alg: 'ES256' }
  const config = new client.Configuration(server, 'ownerapi', metadata, client.None())
  client.allowInsecureRequests(config)
  return config
}

export interface OpenidLogin {
  readonly callback: URL
  readonly checks: { readonly pkceCodeVerifier: string; readonly expectedState: string }
}

/** The authorization URL as the library makes it, and a person who signs in there. */
export async function signIn(
  emulator: Emulator,
  config: client.Configuration,
  identity: string,
  passcode?: string,
): Promise<OpenidLogin> {
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: `${emulator.authUrl}/void/callback`,
    scope: SCOPE,
    state: expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  const callback = new URL(await emulator.signInByHand(url, { identity, ...(passcode !== undefined && { passcode }) }))
  return { callback, checks: { pkceCodeVerifier, expectedState } }
}

/** The region is known beforehand: that's what its `issuer` check asks for. */
export const openidClient: PeerClient = async (emulator, { identity, passcode }) => {
  const { region } = emulator.account(identity)
  const config = configure(serverAt(region === 'home' ? emulator.authUrl : emulator.regionalAuthUrl))
  const { callback, checks } = await signIn(emulator, config, identity, passcode)
  const tokens = await client.authorizationCodeGrant(config, callback, checks)
  const address = new URL(`${emulator.ownerApiUrl}/api/1/vehicles`)
  const call = async (token: string): Promise<string[]> =>
    namesOf(await (await client.fetchProtectedResource(config, token, address, 'GET')).json(), 'id_s')
  const before = await call(tokens.access_token)
  const fresh = await client.refreshTokenGrant(config, tokens.refresh_token ?? '')
  const after = await call(fresh.access_token)
  return { token: tokens.access_token, fresh: fresh.access_token, vehicles: [...before, ...after] }
}
