/**
 * What the environment says about how the portal runs.
 */
import { mayCarrySecrets, type SsoOptions, tokenUrlFromText, transportFromText } from '@owner-sso/core'

/** The SSO service and the owner API. */
export interface Service {
  readonly authUrl: string
  readonly regionalAuthUrls: readonly string[]
  /** Where tokens come from, if not from there. */
  readonly tokenUrl?: NonNullable<SsoOptions['tokenUrl']>
  readonly apiUrl: string
  /** The redirect address that the SSO service knows, where it is not the usual one. */
  readonly redirectUri?: string
  /** How both are spoken to. */
  readonly transport?: NonNullable<SsoOptions['transport']>
}

export interface Settings {
  readonly host: string
  /** The port asked for; where it is busy another is taken. */
  readonly port: number
  /** Absent: the emulator. */
  readonly service?: Service
  readonly sessionSecret?: string
  readonly behindHttpsProxy: boolean
}

/** A variable of the environment that can't be used; the message says what to set. */
export class SettingsError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'SettingsError'
  }
}

/** @throws SettingsError */
export function settingsFrom(environment: NodeJS.ProcessEnv): Settings {
  // An empty variable is an unset one.
  const variable = (name: string): string | undefined => environment[name]?.trim() || undefined
  const service = serviceFrom(variable)
  const sessionSecret = variable('OWNER_SSO_SESSION_SECRET')
  if (sessionSecret !== undefined && sessionSecret.length < 32) {
    throw new SettingsError('OWNER_SSO_SESSION_SECRET must have at least 32 characters.')
  }
  return {
    host: variable('HOST') ?? '127.0.0.1',
    port: portFrom(variable('PORT')),
    behindHttpsProxy: variable('OWNER_SSO_BEHIND_HTTPS_PROXY') === '1',
    ...(service && { service }),
    ...(sessionSecret !== undefined && { sessionSecret }),
  }
}

function serviceFrom(variable: (name: string) => string | undefined): Service | undefined {
  const authUrl = variable('OWNER_SSO_AUTH_URL')
  if (authUrl === undefined) return undefined
  const apiUrl = variable('OWNER_SSO_API_URL')
  if (apiUrl === undefined) {
    throw new SettingsError(
      'OWNER_SSO_AUTH_URL is set, so no emulator is started: set OWNER_SSO_API_URL to the base address of the owner API as well.',
    )
  }
  const regionalAuthUrls = (variable('OWNER_SSO_REGIONAL_AUTH_URLS') ?? '').split(/[\s,]+/u).filter(Boolean)
  const [redirectUri, transport] = [variable('OWNER_SSO_REDIRECT_URI'), variable('OWNER_SSO_TRANSPORT')]
  const tokenUrl = variable('OWNER_SSO_TOKEN_URL')
  return {
    authUrl,
    regionalAuthUrls,
    apiUrl: baseAddress('OWNER_SSO_API_URL', apiUrl),
    ...(redirectUri !== undefined && { redirectUri }),
    ...(transport !== undefined && { transport: readAs(transportFromText, transport, 'OWNER_SSO_TRANSPORT') }),
    ...(tokenUrl !== undefined && { tokenUrl: readAs(tokenUrlFromText, tokenUrl, 'OWNER_SSO_TOKEN_URL') }),
  }
}

/** What core reads out of a text. @throws SettingsError */
function readAs<Value>(read: (text: string, name: string) => Value, text: string, name: string): Value {
  try {
    return read(text, name)
  } catch (error) {
    throw new SettingsError(`${error instanceof Error ? error.message : name}.`)
  }
}

/** The bearer token goes there: https, or http on a loopback host. */
function baseAddress(name: string, value: string): string {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url !== undefined && mayCarrySecrets(url)) return value
  throw new SettingsError(`${name} must be an https address, or http on a loopback host.`)
}

function portFrom(value = '3000'): number {
  const port = Number(value)
  if (/^\d{1,5}$/u.test(value) && port <= 65_535) return port
  throw new SettingsError('PORT must be a whole number from 0 to 65535.')
}
