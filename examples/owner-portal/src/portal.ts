/**
 * What the routes of one portal share.
 */
import type { TokenManager } from '@owner-sso/core'
import type { OwnerSsoStrategy } from '@owner-sso/passport'
import type { Authenticator } from 'passport'
import type { ListVehicles } from './owner-api.ts'
import type { Html } from '@owner-sso/sign-in-pages'
import type { SignInLimit } from './rate-limit.ts'

/** Where the portal shows the owner API's answers as they are: its paths stand below this one. */
export const ownerApiPath = '/owner-api'

export interface Portal {
  readonly passport: Pick<Authenticator, 'authenticate' | 'session'>
  /** Whether e-mail and password can be typed in the portal's own form. */
  readonly hasForm: boolean
  /** Sign-in with them; where there is no such form, the other. */
  readonly form: OwnerSsoStrategy
  /** Where that ends. */
  readonly redirectUri: string
  /** Sign-in on the service's own page. */
  readonly browser: OwnerSsoStrategy
  /** The manager that both strategies save to. */
  readonly tokens: TokenManager
  readonly vehicles: ListVehicles
  /** The path of the owner API that lists them. */
  readonly vehicleList: string
  readonly limit: SignInLimit
  /** The demo accounts, where the portal runs against the emulator. */
  readonly demo: ((here: string) => Html) | undefined
}
