/**
 * The query of both authorize calls, and the values in it (interface document, endpoints 1 and 2).
 */
import { codeChallenge, randomCodeVerifier, randomState } from './pkce.ts'
import type { SsoSettings } from '../service/options.ts'

/** Path of the authorize endpoint, on every instance. */
export const authorizePath = '/oauth2/v3/authorize'

/** What one login makes up for itself and keeps to its end. Plain data. */
export interface LoginSecrets {
  readonly state: string
  readonly codeVerifier: string
}

/** A fresh `state` and verifier: one pair for one login. */
export function newLoginSecrets(): LoginSecrets {
  return { state: randomState(), codeVerifier: randomCodeVerifier() }
}

/**
 * The address of the authorize endpoint at one instance. `redirect_uri` stays the home instance's at every region.
 *
 * @param authUrl - the instance that is asked
 * @param loginHint - the account's e-mail: on the GET alone, never on the POST
 */
export function authorizeUrl(settings: SsoSettings, authUrl: string, secrets: LoginSecrets, loginHint?: string): URL {
  const query = new URLSearchParams({
    client_id: settings.client.id,
    code_challenge: codeChallenge(secrets.codeVerifier, settings.codeChallengeEncoding),
    code_challenge_method: 'S256',
    redirect_uri: settings.redirectUri,
    response_type: 'code',
    scope: settings.client.scope,
    state: secrets.state,
    ...(loginHint === undefined ? {} : { login_hint: loginHint }),
  })
  return new URL(`${authorizePath}?${query.toString()}`, authUrl)
}
