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
  /** The SSO service. Its `transport` is the owner API's as well. */
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
  /** An OpenTelemetry collector, for traces and metrics. */
  readonly otlpEndpoint: string | undefined
  /** Seconds that calls under way have to end once the instance was asked to stop. */
  readonly graceSeconds: number
}

/** Something of the configuration can't be used; the message names it and says what to set. */
export class SettingsError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SettingsError'
  }
}

/** @throws SettingsError that names the variable */
export function settingsFrom(environment: NodeJS.ProcessEnv): GatewaySettings {
  /** What `read` makes of a variable; undefined where it is empty or not set. */
  const optional = <Value>(name: string, read: (text: string, name: string) => Value): Value | undefined => {
    const clean = read === encryptionKeys ? trimmed : settingFromText
    const value = readOrTell(() => clean(environment[name] ?? '', name))
    return value === '' ? undefined : readOrTell(() => read(value, name))
  }
  const required = (name: string, meaning: string, read: (text: string, name: string) => string): string => {
    const value = optional(name, read)
    if (value === undefined) throw new SettingsError(`${name} is not set: it must be ${meaning}.`)
    return value
  }
  return {
    host: optional('HOST', text) ?? '127.0.0.1',
    port: optional('PORT', wholeNumber(65_535)) ?? 8080,
    sso: {
      ...readOrTell(() => ssoOptionsFromEnvironment(environment)),
      authUrl: required('OWNER_SSO_AUTH_URL', 'the address of the SSO service', origin),
      regionalAuthUrls: optional('OWNER_SSO_REGIONAL_AUTH_URLS', origins) ?? [],
    },
    apiUrl: required('OWNER_SSO_API_URL', 'the base address of the owner API', tokenAddress),
    storeUrl: required('OWNER_SSO_STORE', 'the Redis or PostgreSQL that all instances share', storeAddress),
    encryptionKeys: optional('OWNER_SSO_ENCRYPTION_KEY', encryptionKeys),
    spool: optional('OWNER_SSO_SPOOL', folder),
    requestBudget: optional('OWNER_SSO_REQUEST_BUDGET', requestBudgetFrom),
    otlpEndpoint: optional('OTEL_EXPORTER_OTLP_ENDPOINT', collector),
    graceSeconds: optional('OWNER_SSO_GRACE_SECONDS', wholeNumber(86_400)) ?? 30,
  }
}

/** What is wrong with a value is the operator's to mend, also where core says so. */
function readOrTell<Value>(read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw error instanceof TypeError ? new SettingsError(`${error.message}.`) : error
  }
}

const text = (value: string): string => value
const trimmed = (value: string): string => value.trim()

/** Several are separated by commas or spaces. */
const listed = (value: string): string[] => value.split(/[\s,]+/u).filter(Boolean)

const origins = (value: string, name: string): string[] => listed(value).map((url) => origin(url, name))

/** An instance of the SSO service. */
function origin(value: string, name: string): string {
  const address = tokenAddress(value, name)
  if (new URL(address).pathname === '/') return address
  throw new SettingsError(`${name} must be a scheme, host and port, without a path.`)
}

/** Tokens and passwords travel there: https, or http on a loopback host. */
function tokenAddress(value: string, name: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || !mayCarrySecrets(url)) {
    throw new SettingsError(`${name} must be an https address, or http on a loopback host.`)
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new SettingsError(`${name} must be without a user name, password, query or fragment.`)
  }
  return value
}

function collector(value: string, name: string): string {
  if (/^https?:/u.test(value) && URL.canParse(value)) return value
  throw new SettingsError(`${name} must be an address such as http://127.0.0.1:4318.`)
}

/** The value is not repeated: there may be a password in it. */
function storeAddress(value: string, name: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url !== undefined && /^(?:rediss?|postgres(?:ql)?):$/u.test(url.protocol) && url.hostname !== '') return value
  throw new SettingsError(
    `${name} must be an address such as redis://127.0.0.1:6379 (rediss:// for TLS) or postgres://127.0.0.1/tokens (?sslmode=require for TLS).`,
  )
}

function folder(value: string, name: string): string {
  if (isAbsolute(value)) return value
  throw new SettingsError(`${name} must be the absolute path of a folder, such as /var/lib/owner-sso/spool.`)
}

/** Keys in base64, several while one is being changed: the new one first. */
function encryptionKeys(value: string, name: string): readonly Uint8Array[] {
  const keys = listed(value).map((key) => Buffer.from(key, 'base64'))
  if (keys.length > 0 && keys.every((key) => key.byteLength === 32)) return keys
  throw new SettingsError(`${name} must be 32 bytes in base64, such as 'openssl rand -base64 32' prints.`)
}

function wholeNumber(most: number): (value: string, name: string) => number {
  return (value, name) => {
    if (/^\d{1,6}$/u.test(value) && Number(value) <= most) return Number(value)
    throw new SettingsError(`${name} must be a whole number from 0 to ${most}.`)
  }
}
