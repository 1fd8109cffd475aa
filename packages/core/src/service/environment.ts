/**
 * What variables of the environment say of the SSO service: one row each, for every program that takes its settings from there.
 */
import { refreshFromText } from '@owner-sso/token-manager'
import { settingFromText } from '../support/setting-text.ts'
import { clientSecretIn } from './client.ts'
import { serviceFromText } from './profiles.ts'
import { type SsoOptions, tokenUrlFromText } from './options.ts'
import { transportFromText } from '@owner-sso/token-manager/support'

type Row = readonly [variable: string, read: (text: string, variable: string) => Partial<SsoOptions>]

const rows: readonly Row[] = [
  ['OWNER_SSO_AUTH_URL', (text) => ({ authUrl: text })],
  ['OWNER_SSO_SERVICE', (text, name) => ({ service: serviceFromText(text, name) })],
  ['OWNER_SSO_CLIENT_ID', (text) => ({ clientId: text })],
  ['OWNER_SSO_CLIENT_SECRET_FILE', (text, name) => ({ clientSecret: clientSecretIn(text, name) })],
  ['OWNER_SSO_AUDIENCE', (text) => ({ audience: text })],
  ['OWNER_SSO_SCOPE', (text) => ({ scope: text })],
  ['OWNER_SSO_REGIONAL_AUTH_URLS', (text) => ({ regionalAuthUrls: text.split(/[\s,]+/u).filter(Boolean) })],
  ['OWNER_SSO_TOKEN_URL', (text, name) => ({ tokenUrl: tokenUrlFromText(text, name) })],
  ['OWNER_SSO_REDIRECT_URI', (text) => ({ redirectUri: text })],
  [
    'OWNER_SSO_CODE_CHALLENGE_ENCODING',
    (text, name) => ({ codeChallengeEncoding: challengeEncodingFromText(text, name) }),
  ],
  ['OWNER_SSO_TRANSPORT', (text, name) => ({ transport: transportFromText(text, name) })],
]

/**
 * The options of `createSso` that the environment gives: `OWNER_SSO_AUTH_URL`, `OWNER_SSO_SERVICE`, `OWNER_SSO_REGIONAL_AUTH_URLS` (with
 * commas or spaces between them), `OWNER_SSO_TOKEN_URL`, `OWNER_SSO_REDIRECT_URI`, `OWNER_SSO_CODE_CHALLENGE_ENCODING`,
 * `OWNER_SSO_TRANSPORT`; of a registered application `OWNER_SSO_CLIENT_ID`, `OWNER_SSO_CLIENT_SECRET_FILE` (a path),
 * `OWNER_SSO_AUDIENCE`, `OWNER_SSO_SCOPE`. One that is empty is not set; without the first, `createSso` says so.
 *
 * @throws TypeError that names the variable
 * @example
 * const sso = createSso(ssoOptionsFromEnvironment())
 */
export function ssoOptionsFromEnvironment(environment: NodeJS.ProcessEnv = process.env): SsoOptions {
  const given = rows.map(([variable, read]) => {
    const text = settingFromText(environment[variable] ?? '', variable)
    return text === '' ? {} : read(text, variable)
  })
  return Object.assign({}, ...given)
}

/**
 * The option `refresh` of `createTokenManager` that the environment gives: `OWNER_SSO_REFRESH`, `here` (default) or `elsewhere`.
 *
 * @throws TypeError that names the variable
 * @example
 * const tokens = createTokenManager({ issuer: sso, store, refresh: refreshFromEnvironment() })
 */
export function refreshFromEnvironment(environment: NodeJS.ProcessEnv = process.env): 'here' | 'elsewhere' {
  const variable = 'OWNER_SSO_REFRESH'
  return refreshFromText(settingFromText(environment[variable] ?? '', variable) || 'here', variable)
}

/** The option `codeChallengeEncoding` from text. @param where - what the text is, for the error @throws TypeError */
export function challengeEncodingFromText(
  text: string,
  where: string,
): NonNullable<SsoOptions['codeChallengeEncoding']> {
  if (text === 'hex-digest' || text === 'raw-digest') return text
  throw new TypeError(`${where} must be 'hex-digest' or 'raw-digest'`)
}
