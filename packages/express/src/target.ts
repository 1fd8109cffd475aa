/**
 * The owner API's address: the only place a token is sent to.
 */
import { mayCarrySecrets, settingFromText, verificationProblem, whatCame } from '@owner-sso/core'
import { property } from './property.ts'

/** `undefined` where it is not set. @throws TypeError that names the variable */
export function apiUrlOfEnvironment(): string | undefined {
  const { OWNER_SSO_API_URL: text } = process.env
  return text === undefined ? undefined : settingFromText(text, 'OWNER_SSO_API_URL')
}

/**
 * The option `target`; default the variable `OWNER_SSO_API_URL`.
 *
 * @throws TypeError where it is not https (or http on a loopback host), has a user name, query or fragment, or where
 *   certificates are not checked
 */
export function ownerApiTarget(value: unknown = apiUrlOfEnvironment()): URL {
  // By its shape: a URL of another realm is one, too.
  const text = typeof value === 'string' ? value : property(value, 'href')
  const url = typeof text === 'string' && URL.canParse(text) ? new URL(text) : undefined
  if (value === undefined || value === '') {
    throw new TypeError('target is not given: set the environment variable OWNER_SSO_API_URL, or give the option')
  }
  if (!url || !mayCarrySecrets(url)) {
    throw new TypeError(
      `target must be the owner API’s address: https, or http on a loopback host${typeof value === 'string' ? '' : whatCame(value)}`,
    )
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new TypeError('target must have no user name, password, query or fragment')
  }
  const unverified = verificationProblem(url)
  if (unverified !== undefined) throw new TypeError(`target ${unverified}`)
  return url
}
