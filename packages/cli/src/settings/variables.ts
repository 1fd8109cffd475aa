/**
 * Every variable of the environment that has our prefix: the help shows those of the command, and a mistyped one is told.
 */
import { nearestName } from '@owner-sso/core'

/** Those that the command reads, with what its help says of each. */
export const ownVariables = {
  OWNER_SSO_AUTH_URL: 'as --auth-url',
  OWNER_SSO_SERVICE: 'as --service',
  OWNER_SSO_REGIONAL_AUTH_URLS: 'as --regional-auth-url, separated by commas or spaces',
  OWNER_SSO_TOKEN_URL: 'the token endpoint’s host, if it is another; JSON with regions',
  OWNER_SSO_API_URL: 'as --api-url',
  OWNER_SSO_STORE: 'as --store; may hold a password, which --store may not',
  OWNER_SSO_ACCOUNT: 'as --account, and the e-mail to sign in with',
  OWNER_SSO_CREDENTIAL: 'the password to sign in with',
  OWNER_SSO_TOTP_SECRET: 'the secret to make passcodes from',
  OWNER_SSO_ENCRYPTION_KEY: '32 bytes in base64: what is stored is encrypted',
  OWNER_SSO_CA: 'as --ca',
  OWNER_SSO_PROXY: 'as --proxy; may hold a password, which --proxy may not',
  OWNER_SSO_TRANSPORT: 'as --transport',
  OWNER_SSO_REDIRECT_URI: 'as --redirect-uri',
  OWNER_SSO_CODE_CHALLENGE_ENCODING: 'hex-digest (the document) or raw-digest',
  OWNER_SSO_BROWSER: 'the Chrome, Chromium, Edge or Brave that login --browser starts',
  OWNER_SSO_REQUEST_BUDGET: 'refreshes a minute, of all processes that share the store',
  OWNER_SSO_KEYRING: 'on or off: whether a folder has its key in the keyring',
  OWNER_SSO_ALERT_SECRET: 'what broker --alert-webhook signs with',
  OWNER_SSO_ALERT_MQTT_USERNAME: 'for broker --alert-mqtt',
  OWNER_SSO_ALERT_MQTT_PASSWORD: 'for broker --alert-mqtt',
} as const

/** Those of the applications, of tests/broker-conformance and of the guides' programs, which may be set in the same place. */
export const otherVariables: readonly string[] = [
  'OWNER_SSO_BEHIND_HTTPS_PROXY',
  'OWNER_SSO_BROKER_KEY',
  'OWNER_SSO_BROKER_REVOKED_KEY',
  'OWNER_SSO_FACTOR',
  'OWNER_SSO_GRACE_SECONDS',
  'OWNER_SSO_SESSION_SECRET',
  'OWNER_SSO_SPOOL',
]

/** A variable that nothing reads. */
export interface UnknownVariable {
  readonly problem: string
  readonly fix: string
}

/** Those that have our prefix, or nearly the name of one that has. */
export function unknownVariables(env: NodeJS.ProcessEnv): UnknownVariable[] {
  const known = [...Object.keys(ownVariables), ...otherVariables]
  return Object.entries(env).flatMap(([name, value]) => {
    // To Windows, letters of either case are the same.
    const isRead = known.includes(name.toUpperCase()) && env[name.toUpperCase()] === value
    if (!value || isRead || !/owner|sso/iu.test(name)) return []
    const meant = nearestName(name, known)
    if (meant === undefined && !/^OWNER_SSO_/iu.test(name)) return []
    const fix = meant === undefined ? 'owner-sso --help lists the variables.' : `Did you mean ${meant}?`
    return [{ problem: `${name} is set, but nothing reads it.`, fix }]
  })
}
