/**
 * The owner API, as the portal needs it: the vehicles of the signed-in account.
 */
import { refusalAdvice, SsoError, type TokenManager, type TransportOption } from '@owner-sso/core'
import { OwnerApiClosedError, OwnerApiTokenRefusedError, ownerFetch } from '@owner-sso/express'

/** A vehicle as the owner API lists it. */
export interface Vehicle {
  readonly name: string
  readonly vin: string
  /** Such as `online` or `asleep`. */
  readonly state: string | undefined
}

/** The owner API did not give what was asked for. Its message is for people. */
export class OwnerApiError extends Error {
  /** HTTP status for the portal's own answer. */
  readonly status: 502 | 504
  constructor(status: 502 | 504, message: string) {
    super(message)
    this.name = 'OwnerApiError'
    this.status = status
  }
}

/** The vehicles of an account. @throws OwnerApiError, or what `tokens.getAccessToken` throws */
export type ListVehicles = (account: string) => Promise<Vehicle[]>

export interface OwnerApiOptions {
  /** Base address; https, or http on a loopback host. */
  readonly url: string
  /** `Sso.vehicleList`. */
  readonly vehicleList: string
  readonly tokens: Pick<TokenManager, 'accepted' | 'getAccessToken' | 'invalidate' | 'status'>
  /** How it is spoken to. */
  readonly transport?: TransportOption | undefined
  /** Milliseconds for one request with its answer. Default 10,000. */
  readonly timeout?: number
}

/** Calls the owner API with the account's own token. */
export function listVehicles({ url, vehicleList, tokens, transport, timeout = 10_000 }: OwnerApiOptions): ListVehicles {
  return async (account) => {
    const call = ownerFetch({ tokens, account, target: url, transport })
    try {
      return vehiclesIn(await contentAt(call, vehicleList, AbortSignal.timeout(timeout)))
    } catch (error) {
      if (error instanceof OwnerApiClosedError) throw new OwnerApiError(502, closed)
      if (!(error instanceof OwnerApiTokenRefusedError)) throw error
      const advice = refusalAdvice({ ...(await tokens.status(account)), refused: true })
      throw new OwnerApiError(502, advice ?? refused)
    }
  }
}

async function contentAt(call: typeof fetch, path: string, signal: AbortSignal): Promise<unknown> {
  try {
    // A redirect would carry the token to another host.
    const response = await call(path, { headers: { accept: 'application/json' }, redirect: 'manual', signal })
    if (response.status !== 200) throw new OwnerApiError(502, `The owner API answered with status ${response.status}.`)
    return JSON.parse(await response.text())
  } catch (error) {
    if (error instanceof OwnerApiError || error instanceof SsoError) throw error
    if (error instanceof OwnerApiTokenRefusedError || error instanceof OwnerApiClosedError) throw error
    if (error instanceof SyntaxError) throw unreadable()
    if (signal.aborted) throw new OwnerApiError(504, 'The owner API did not answer in time.')
    throw new OwnerApiError(502, 'The owner API can’t be reached.')
  }
}

/** Among an account's products there are energy sites, which have no VIN. */
function vehiclesIn(content: unknown): Vehicle[] {
  const products: unknown = Object(content).response
  if (!Array.isArray(products)) throw unreadable()
  return products.flatMap((product) => {
    if (typeof product !== 'object' || product === null) throw unreadable()
    const vin = textIn(product.vin)
    const [name = 'Vehicle without a name', state] = [textIn(product.display_name), textIn(product.state)]
    return vin === undefined ? [] : [{ name, vin, state }]
  })
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

const unreadable = (): OwnerApiError => new OwnerApiError(502, 'The owner API’s answer could not be read.')

const closed =
  'The owner API has closed what this portal asks for. The operator of this portal has to set OWNER_SSO_SERVICE to current.'
const refused =
  'The owner API refuses the tokens of this sign-in. Signing in again does not help: the operator of this portal has to set another OWNER_SSO_TRANSPORT.'
