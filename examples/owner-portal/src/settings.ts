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

export interface PortalSettings {
  readonly host: string
  /** The port asked for; where it is busy another is taken. */
  readonly port: number
  /** Absent: the emulator. */
  readonly service: Service | undefined
  readonly sessionSecret: string | undefined
  readonly behindHttpsProxy: boolean
  readonly refresh: ReturnType<typeof refreshFromEnvironment>
}

/** @throws Error that says what to set */
export function settingsFrom(environment: NodeJS.ProcessEnv): PortalSettings {
  const variable = (name: string, read = settingFromText): string | undefined =>
    read(environment[name] ?? '', name) || undefined
  const sessionSecret = variable('OWNER_SSO_SESSION_SECRET', secretFromText)
  if (sessionSecret !== undefined && sessionSecret.length < 32) {
    throw new Error('OWNER_SSO_SESSION_SECRET must have at least 32 characters.')
  }
  return {
    host: variable('HOST') ?? '127.0.0.1',
    port: portFrom(variable('PORT')),
    behindHttpsProxy: variable('OWNER_SSO_BEHIND_HTTPS_PROXY') === '1',
    service: serviceFrom(environment, variable),
    sessionSecret,
    refresh: refreshFromEnvironment(environment),
  }
}

function serviceFrom(
  environment: NodeJS.ProcessEnv,
  variable: (name: string) => string | undefined,
): Service | undefined {
  const [authUrl, apiUrl] = [variable('OWNER_SSO_AUTH_URL'), variable('OWNER_SSO_API_URL')]
  if (authUrl === undefined) return undefined
  if (apiUrl === undefined) {
    throw new Error(
      'OWNER_SSO_AUTH_URL is set, so no emulator is started: set OWNER_SSO_API_URL to the base address of the owner API as well.',
    )
  }
  // The bearer token goes there.
  if (!URL.canParse(apiUrl) || !mayCarrySecrets(new URL(apiUrl))) {
    throw new Error('OWNER_SSO_API_URL must be an https address, or http on a loopback host.')
  }
  return { sso: { ...ssoOptionsFromEnvironment(environment), authUrl }, apiUrl }
}

function portFrom(value = '3000'): number {
  if (/^\d{1,5}$/u.test(value) && Number(value) <= 65_535) return Number(value)
  throw new Error('PORT must be a whole number from 0 to 65535.')
}
