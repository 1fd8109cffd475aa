/**
 * What the environment says about how the portal runs.
 */
import {
  mayCarrySecrets,
  refreshFromEnvironment,
  secretFromText,
  settingFromText,
  type SsoOptions,
  ssoOptionsFromEnvironment,
} from '@owner-sso/core'

/** The SSO service and the owner API. */
export interface Service {
  readonly sso: SsoOptions
  readonly apiUrl: string
}

export interface Settings {
  readonly host: string
  /** The port asked for; where it is busy another is taken. */
  readonly port: number
  /** Absent: the emulator. */
  readonly service: Service | undefined
  readonly sessionSecret: string | undefined
  readonly behindHttpsProxy: boolean
  readonly refresh: ReturnType<typeof refreshFromEnvironment>
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
  /** An empty variable is an unset one. */
  const variable = (name: string, read = settingFromText): string | undefined =>
    readOrTell(() => read(environment[name] ?? '', name)) || undefined
  const sessionSecret = variable('OWNER_SSO_SESSION_SECRET', secretFromText)
  if (sessionSecret !== undefined && sessionSecret.length < 32) {
    throw new SettingsError('OWNER_SSO_SESSION_SECRET must have at least 32 characters.')
  }
  return {
    host: variable('HOST') ?? '127.0.0.1',
    port: portFrom(variable('PORT')),
    behindHttpsProxy: variable('OWNER_SSO_BEHIND_HTTPS_PROXY') === '1',
    service: serviceFrom(environment, variable),
    sessionSecret,
    refresh: readOrTell(() => refreshFromEnvironment(environment)),
  }
}

function serviceFrom(
  environment: NodeJS.ProcessEnv,
  variable: (name: string) => string | undefined,
): Service | undefined {
  const [authUrl, apiUrl] = [variable('OWNER_SSO_AUTH_URL'), variable('OWNER_SSO_API_URL')]
  if (authUrl === undefined) return undefined
  if (apiUrl === undefined) {
    throw new SettingsError(
      'OWNER_SSO_AUTH_URL is set, so no emulator is started: set OWNER_SSO_API_URL to the base address of the owner API as well.',
    )
  }
  // The bearer token goes there.
  if (!URL.canParse(apiUrl) || !mayCarrySecrets(new URL(apiUrl))) {
    throw new SettingsError('OWNER_SSO_API_URL must be an https address, or http on a loopback host.')
  }
  return { sso: { ...readOrTell(() => ssoOptionsFromEnvironment(environment)), authUrl }, apiUrl }
}

/** What core reads out of a text. @throws SettingsError */
function readOrTell<Value>(read: () => Value): Value {
  try {
    return read()
  } catch (error) {
    throw new SettingsError(`${error instanceof Error ? error.message : String(error)}.`)
  }
}

function portFrom(value = '3000'): number {
  if (/^\d{1,5}$/u.test(value) && Number(value) <= 65_535) return Number(value)
  throw new SettingsError('PORT must be a whole number from 0 to 65535.')
}
