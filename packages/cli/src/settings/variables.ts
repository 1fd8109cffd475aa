/**
 * Every variable of the environment that has our prefix: the help shows those of the command, and a mistyped one is told.
 */
import { nearestName } from '@owner-sso/core'
import { dashed } from '../options/option.ts'
import { settingRows, variableOf } from './setting-table.ts'

/** Secrets, and what is no setting of every command. */
const others = {
  OWNER_SSO_CREDENTIAL: 'the password to sign in with',
  OWNER_SSO_TOTP_SECRET: 'the secret to make passcodes from',
  OWNER_SSO_ENCRYPTION_KEY: '32 bytes in base64: what is stored is encrypted',
  OWNER_SSO_BROWSER: 'the Chrome, Chromium, Edge or Brave that login --browser starts',
  OWNER_SSO_ALERT_SECRET: 'what broker --alert-webhook signs with',
  OWNER_SSO_ALERT_MQTT_USERNAME: 'for broker --alert-mqtt',
  OWNER_SSO_ALERT_MQTT_PASSWORD: 'for broker --alert-mqtt',
}

/** Those that the command reads, with what its help says of each. */
export const ownVariables: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    settingRows.map(([name, { variable, optionName = name }]) => [
      variableOf(name),
      variable ?? `as ${dashed(optionName)}`,
    ]),
  ),
  ...others,
}

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
