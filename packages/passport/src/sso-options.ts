/**
 * The SSO service that a strategy signs in with: handed over, described by options, or named by the environment.
 */
import {
  createSso,
  settingFromText,
  type Sso,
  ssoOptionRows,
  type SsoOptions,
  ssoOptionsFromEnvironment,
} from '@owner-sso/core'

/** Options of `createSso`, as many as are given. */
export type SomeSsoOptions = { readonly [Name in keyof SsoOptions]?: SsoOptions[Name] | undefined }

/** Whether an option is one of `createSso`. */
function isSsoOption(name: string): name is keyof SsoOptions {
  return Object.hasOwn(ssoOptionRows, name)
}

/**
 * The service of the option `sso`, or of createSso's options given next to it. `authUrl` defaults to `OWNER_SSO_AUTH_URL`, and with
 * it what is not given to what the environment says of that service (`ssoOptionsFromEnvironment`).
 *
 * @throws TypeError that names the option, or says what to set.
 */
export function ssoOf(options: { readonly sso?: Sso | SomeSsoOptions | undefined } & SomeSsoOptions): Sso {
  const { sso } = options
  const beside = given(options, isSsoOption)
  if (sso === undefined) return fromOptions(beside)
  if (typeof sso !== 'object' || sso === null)
    throw new TypeError('sso must be what createSso() returns, or its options')
  const names = Object.keys(beside)
  if (names.length > 0) throw new TypeError(`${names.join(', ')} can't be given together with sso: put it into sso`)
  return 'beginLogin' in sso ? sso : fromOptions(sso)
}

function fromOptions(options: SomeSsoOptions): Sso {
  if (options.authUrl !== undefined) return createSso({ ...options, authUrl: options.authUrl })
  const authUrl = variable('OWNER_SSO_AUTH_URL')
  if (authUrl === '') {
    throw new TypeError(
      'No SSO service: set the environment variable OWNER_SSO_AUTH_URL to its base address, or give new OwnerSsoStrategy() the option authUrl or sso.',
    )
  }
  return createSso({ ...ssoOptionsFromEnvironment(), ...given(options), authUrl })
}

/** Empty where it is not set. @throws TypeError that names it */
function variable(name: string): string {
  return settingFromText(process.env[name] ?? '', name)
}

/** Those that have a value: `undefined` stands for an option that is not given. */
function given(options: object, isMeant = (_name: string): boolean => true): SomeSsoOptions {
  return Object.fromEntries(Object.entries(options).filter(([name, value]) => value !== undefined && isMeant(name)))
}
