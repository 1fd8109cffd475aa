/**
 * What the environment says about how an instance runs. Everything is checked once, at the start.
 */
import { isAbsolute } from 'node:path'
import {
  mayCarrySecrets,
  type RequestBudget,
  requestBudgetFrom,
  settingFromText,
  type SsoOptions,
  ssoOptionsFromEnvironment,
} from '@owner-sso/core'

export interface GatewaySettings {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** The SSO service. Its `transport` is the owner API's as well. `createSso` checks the rest of it. */
  readonly sso: SsoOptions
  /** The owner API. */
  readonly apiUrl: string
  /** Redis or PostgreSQL; may have a user name and password in it, so it is never printed. */
  readonly storeUrl: string
  /** What token sets are sealed with in the store, 32 bytes each: the first seals, all open. */
  readonly encryptionKeys: readonly Uint8Array[] | undefined
  /** A folder of this machine for new tokens that the store does not take. */
  readonly spool: string | undefined
  /** What all instances may send for refreshes. */
  readonly requestBudget: RequestBudget | undefined
  /** Whether there is an OpenTelemetry collector, for traces and metrics. */
  readonly hasCollector: boolean
  /** Seconds that calls under way have to end once the instance was asked to stop. */
  readonly graceSeconds: number
}

/** @throws TypeError that names the variable and says what to set */
export function settingsFrom(environment: NodeJS.ProcessEnv): GatewaySettings {
  /** What `read` makes of a variable; undefined where it is empty or not set. */
  const optional = <Value>(name: string, read: (text: string, name: string) => Value): Value | undefined => {
    const value = settingFromText(environment[name] ?? '', name)
    return value === '' ? undefined : read(value, name)
  }
  const required = (name: string, must: string, fits: (text: string) => boolean = () => true): string => {
    const value = optional(name, checked(must, fits))
    if (value === undefined) throw new TypeError(`${name} is not set: it must be ${must}`)
    return value
  }
  required('OWNER_SSO_AUTH_URL', 'the address of the SSO service')
  return {
    host: optional('HOST', String) ?? '127.0.0.1',
    port: optional('PORT', wholeNumber(65_535)) ?? 8080,
    sso: ssoOptionsFromEnvironment(environment),
    apiUrl: required(
      'OWNER_SSO_API_URL',
      'the base address of the owner API: https, or http on a loopback host',
      isApi,
    ),
    // The value is not repeated: there may be a password in it.
    storeUrl: required(
      'OWNER_SSO_STORE',
      'the Redis or PostgreSQL that all instances share: an address such as redis://127.0.0.1:6379 (rediss:// for TLS) or postgres://127.0.0.1/tokens (?sslmode=require for TLS)',
      (text) => URL.canParse(text) && /^(?:rediss?|postgres(?:ql)?):\/\/./u.test(text),
    ),
    encryptionKeys: encryptionKeysIn(environment['OWNER_SSO_ENCRYPTION_KEY'] ?? ''),
    spool: optional(
      'OWNER_SSO_SPOOL',
      checked('the absolute path of a folder, such as /var/lib/owner-sso/spool', isAbsolute),
    ),
    requestBudget: optional('OWNER_SSO_REQUEST_BUDGET', requestBudgetFrom),
    hasCollector:
      optional('OTEL_EXPORTER_OTLP_ENDPOINT', checked('an address such as http://127.0.0.1:4318', isPage)) !==
      undefined,
    graceSeconds: optional('OWNER_SSO_GRACE_SECONDS', wholeNumber(86_400)) ?? 30,
  }
}

function checked(must: string, fits: (text: string) => boolean): (text: string, name: string) => string {
  return (text, name) => {
    if (fits(text)) return text
    throw new TypeError(`${name} must be ${must}`)
  }
}

const isPage = (text: string): boolean => /^https?:/u.test(text) && URL.canParse(text)

/** Tokens travel there. */
function isApi(text: string): boolean {
  if (!URL.canParse(text)) return false
  const url = new URL(text)
  return mayCarrySecrets(url) && url.href === url.origin + url.pathname
}

/** In base64, separated by commas or spaces while one is being changed: the new one first. */
function encryptionKeysIn(text: string): readonly Uint8Array[] | undefined {
  if (text.trim() === '') return undefined
  const listed = text.split(/[\s,]+/u).filter(Boolean)
  const keys = listed.map((key) => Buffer.from(key, 'base64'))
  if (keys.every((key) => key.byteLength === 32)) return keys
  throw new TypeError("OWNER_SSO_ENCRYPTION_KEY must be 32 bytes in base64, such as 'openssl rand -base64 32' prints")
}

function wholeNumber(most: number): (value: string, name: string) => number {
  return (value, name) => {
    if (/^\d{1,6}$/u.test(value) && Number(value) <= most) return Number(value)
    throw new TypeError(`${name} must be a whole number from 0 to ${most}`)
  }
}
