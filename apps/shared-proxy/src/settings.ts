/**
 * What the environment says about how an instance runs. Everything is checked once, at the start.
 */
import { isAbsolute } from 'node:path'
import {
  mayCarrySecrets,
  type RequestBudget,
  requestBudgetFrom,
  type SsoOptions,
  tokenUrlFromText,
  transportFromText,
} from '@owner-sso/core'

export interface Settings extends Pick<SsoOptions, 'tokenUrl' | 'redirectUri' | 'transport'> {
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  /** The SSO service. */
  readonly authUrl: string
  readonly regionalAuthUrls: readonly string[]
  /** The owner API. */
  readonly apiUrl: string
  /** Redis or PostgreSQL; may have a user name and password in it, so it is never printed. */
  readonly storeUrl: string
  /** What token sets are sealed with in the store, 32 bytes each: the first seals, all open. */
  readonly encryptionKeys?: readonly Uint8Array[]
  /** A folder of this machine for new tokens that the store does not take. */
  readonly spool?: string
  /** What all instances may send for refreshes. */
  readonly requestBudget?: RequestBudget
  readonly clientsFile: string
  /** Seconds that calls under way have to end once the instance was asked to stop. */
  readonly graceSeconds: number
}

/** What signing in needs: the service and the store. */
export type SignInSettings = Pick<
  Settings,
  'authUrl' | 'regionalAuthUrls' | 'tokenUrl' | 'redirectUri' | 'transport' | 'storeUrl' | 'encryptionKeys'
>

/** What `createSso` takes of the settings. */
export function ssoOptionsOf({
  authUrl,
  regionalAuthUrls,
  tokenUrl,
  redirectUri,
  transport,
}: SignInSettings): SsoOptions {
  return {
    authUrl,
    regionalAuthUrls,
    ...(tokenUrl !== undefined && { tokenUrl }),
    ...(redirectUri !== undefined && { redirectUri }),
    ...(transport !== undefined && { transport }),
  }
}

/** Something of the configuration can't be used; the message names it and says what to set. */
export class SettingsError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SettingsError'
  }
}

/** @throws SettingsError that names the variable */
export function settingsFrom(environment: NodeJS.ProcessEnv): Settings {
  const { optional, required } = variablesOf(environment)
  return {
    ...signInSettingsFrom(environment),
    apiUrl: tokenAddress('OWNER_SSO_API_URL', required('OWNER_SSO_API_URL', 'the base address of the owner API')),
    ...spoolFolder('OWNER_SSO_SPOOL', optional('OWNER_SSO_SPOOL')),
    ...budgetOf('OWNER_SSO_REQUEST_BUDGET', optional('OWNER_SSO_REQUEST_BUDGET')),
    clientsFile: required('OWNER_SSO_CLIENTS_FILE', 'the file that lists the clients and the hashes of their API keys'),
    host: optional('HOST') ?? '127.0.0.1',
    port: wholeNumber('PORT', optional('PORT') ?? '8080', 65_535),
    graceSeconds: wholeNumber('OWNER_SSO_GRACE_SECONDS', optional('OWNER_SSO_GRACE_SECONDS') ?? '30', 86_400),
  }
}

/** @throws SettingsError that names the variable */
export function signInSettingsFrom(environment: NodeJS.ProcessEnv): SignInSettings {
  const { optional, required } = variablesOf(environment)
  const regional = 'OWNER_SSO_REGIONAL_AUTH_URLS'
  return {
    authUrl: origin('OWNER_SSO_AUTH_URL', required('OWNER_SSO_AUTH_URL', 'the address of the SSO service')),
    regionalAuthUrls: (optional(regional) ?? '')
      .split(/[\s,]+/u)
      .filter(Boolean)
      .map((url) => origin(regional, url)),
    ...tokenUrlOf('OWNER_SSO_TOKEN_URL', optional('OWNER_SSO_TOKEN_URL')),
    ...transportOf('OWNER_SSO_TRANSPORT', optional('OWNER_SSO_TRANSPORT')),
    ...redirectUriOf(optional('OWNER_SSO_REDIRECT_URI')),
    storeUrl: storeAddress(
      'OWNER_SSO_STORE',
      required('OWNER_SSO_STORE', 'the Redis or PostgreSQL that all instances share'),
    ),
    ...encryptionKeys('OWNER_SSO_ENCRYPTION_KEY', optional('OWNER_SSO_ENCRYPTION_KEY')),
  }
}

interface Variables {
  readonly optional: (name: string) => string | undefined
  readonly required: (name: string, meaning: string) => string
}

function variablesOf(environment: NodeJS.ProcessEnv): Variables {
  // An empty variable is an unset one.
  const optional = (name: string): string | undefined => environment[name]?.trim() || undefined
  const required = (name: string, meaning: string): string => {
    const value = optional(name)
    if (value === undefined) throw new SettingsError(`${name} is not set: it must be ${meaning}.`)
    return value
  }
  return { optional, required }
}

function redirectUriOf(value: string | undefined): Pick<Settings, 'redirectUri'> {
  return value === undefined ? {} : { redirectUri: value }
}

function tokenUrlOf(name: string, value: string | undefined): Pick<Settings, 'tokenUrl'> {
  return value === undefined ? {} : { tokenUrl: readAs(tokenUrlFromText, value, name) }
}

function transportOf(name: string, value: string | undefined): Pick<Settings, 'transport'> {
  return value === undefined ? {} : { transport: readAs(transportFromText, value, name) }
}

function budgetOf(name: string, value: string | undefined): Pick<Settings, 'requestBudget'> {
  return value === undefined ? {} : { requestBudget: readAs(requestBudgetFrom, value, name) }
}

/** What core reads out of a text. */
function readAs<Value>(read: (text: string, name: string) => Value, text: string, name: string): Value {
  try {
    return read(text, name)
  } catch (error) {
    throw new SettingsError(`${error instanceof Error ? error.message : name}.`)
  }
}

/** An instance of the SSO service. */
function origin(name: string, value: string): string {
  const address = tokenAddress(name, value)
  if (new URL(address).pathname === '/') return address
  throw new SettingsError(`${name} must be a scheme, host and port, without a path.`)
}

/** Tokens and passwords travel there: https, or http on a loopback host. */
function tokenAddress(name: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || !mayCarrySecrets(url)) {
    throw new SettingsError(`${name} must be an https address, or http on a loopback host.`)
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new SettingsError(`${name} must be without a user name, password, query or fragment.`)
  }
  return value
}

/** The value is not repeated: there may be a password in it. */
function storeAddress(name: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url !== undefined && /^(?:rediss?|postgres(?:ql)?):$/u.test(url.protocol) && url.hostname !== '') return value
  throw new SettingsError(
    `${name} must be an address such as redis://127.0.0.1:6379 (rediss:// for TLS) or postgres://127.0.0.1/tokens (?sslmode=require for TLS).`,
  )
}

function spoolFolder(name: string, value: string | undefined): Pick<Settings, 'spool'> {
  if (value === undefined) return {}
  if (isAbsolute(value)) return { spool: value }
  throw new SettingsError(`${name} must be the absolute path of a folder, such as /var/lib/owner-sso/spool.`)
}

/** Keys in base64, separated by commas or spaces, so that one can be changed: the new one first. */
function encryptionKeys(name: string, value: string | undefined): Pick<Settings, 'encryptionKeys'> {
  if (value === undefined) return {}
  const keys = value
    .split(/[\s,]+/u)
    .filter(Boolean)
    .map((key) => Buffer.from(key, 'base64'))
  if (keys.length > 0 && keys.every((key) => key.byteLength === 32)) return { encryptionKeys: keys }
  throw new SettingsError(`${name} must be 32 bytes in base64, such as 'openssl rand -base64 32' prints.`)
}

function wholeNumber(name: string, value: string, most: number): number {
  if (/^\d{1,6}$/u.test(value) && Number(value) <= most) return Number(value)
  throw new SettingsError(`${name} must be a whole number from 0 to ${most}.`)
}
