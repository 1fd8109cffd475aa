/**
 * The owner API, as the portal needs it: the vehicles of the signed-in account.
 */
import { refusalAdvice, SsoError, type TokenManager, type TransportOption, withTimeLimit } from '@owner-sso/core'
import { OwnerApiClosedError, OwnerApiTokenRefusedError, ownerFetch } from '@owner-sso/express'

/** Where the portal shows the owner API's answers as they are: its paths stand below this one. */
export const ownerApiPath = '/owner-api'

/** A vehicle as the owner API lists it. */
export interface Vehicle {
  readonly id: string
  readonly name: string
  readonly vin: string | undefined
  /** Such as `online` or `asleep`. */
  readonly state: string | undefined
  /** Percent. */
  readonly battery: number | undefined
  /** Kilometres. */
  readonly range: number | undefined
}

/** The owner API did not give what was asked for. Its message is for people. */
export class OwnerApiError extends Error {
  /** HTTP status for the portal's own answer. */
  readonly status: 404 | 502 | 504
  constructor(status: 404 | 502 | 504, message: string) {
    super(message)
    this.name = 'OwnerApiError'
    this.status = status
  }
}

export interface OwnerApi {
  /** The path that lists what an account has. */
  readonly vehicleList: string
  /** @throws OwnerApiError, or what `tokens.getAccessToken` throws. */
  vehicles(account: string): Promise<Vehicle[]>
  /** @throws OwnerApiError with status 404 for a vehicle that is not the account's. */
  vehicle(account: string, id: string): Promise<Vehicle>
}

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

const maximumBytes = 256 * 1024

/** What an id may consist of: nothing that is a path, a query, or their end. */
const idPattern = /^[\w-]{1,64}$/u

/** Calls the owner API with the account's own token. */
export function createOwnerApi({ url, vehicleList, tokens, transport, timeout = 10_000 }: OwnerApiOptions): OwnerApi {
  async function get(account: string, path: string): Promise<unknown> {
    const call = ownerFetch({ tokens, account, target: url, transport })
    try {
      return await withTimeLimit(timeout, (signal) => contentAt(call, path, signal))
    } catch (error) {
      if (error instanceof OwnerApiClosedError) throw closedEndpoint()
      if (!(error instanceof OwnerApiTokenRefusedError)) throw error
      throw refusedToken(refusalAdvice({ ...(await tokens.status(account)), refused: true }))
    }
  }

  return {
    vehicleList,
    async vehicles(account) {
      const list = await get(account, vehicleList)
      if (!Array.isArray(list)) throw unreadable()
      return list.filter(isVehicle).map(vehicleOf)
    },
    async vehicle(account, id) {
      // Encoding is not enough: `..` stays `..`, and a step up is another call with the owner's token.
      if (!idPattern.test(id)) throw unknownVehicle()
      return vehicleOf(await get(account, `/api/1/vehicles/${encodeURIComponent(id)}`))
    },
  }
}

async function contentAt(call: typeof fetch, path: string, signal: AbortSignal): Promise<unknown> {
  try {
    // A redirect would carry the token to another host.
    const response = await call(path, { headers: { accept: 'application/json' }, redirect: 'manual', signal })
    if (response.status === 404) throw unknownVehicle()
    if (response.status !== 200) throw new OwnerApiError(502, `The owner API answered with status ${response.status}.`)
    return contentOf(await boundedText(response))
  } catch (error) {
    if (error instanceof OwnerApiError || error instanceof SsoError) throw error
    if (error instanceof OwnerApiTokenRefusedError || error instanceof OwnerApiClosedError) throw error
    if (signal.aborted) throw new OwnerApiError(504, 'The owner API did not answer in time.')
    throw new OwnerApiError(502, 'The owner API can’t be reached.')
  }
}

async function boundedText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length
    if (bytes > maximumBytes) throw unreadable()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** An id as a number, which may be beyond 2⁵³. Inside a text no quote stands without a backslash: this is never part of one. */
const numberedId = /("id"\s*:\s*)(\d+)(?=\s*[,}])/gu

function contentOf(body: string): unknown {
  try {
    return Object(JSON.parse(body.replaceAll(numberedId, '$1"$2"')))['response']
  } catch {
    throw unreadable()
  }
}

/** Among an account's products there are energy sites, which have no VIN. */
function isVehicle(product: unknown): boolean {
  if (typeof product !== 'object' || product === null) throw unreadable()
  return Boolean(Object(product).vin)
}

function vehicleOf(value: unknown): Vehicle {
  const { id, display_name, vin, state, battery_level, range_km }: Readonly<Record<string, unknown>> = Object(value)
  if (typeof id !== 'string') throw unreadable()
  return {
    id,
    name: textIn(display_name) ?? 'Vehicle without a name',
    vin: textIn(vin),
    state: textIn(state),
    battery: typeof battery_level === 'number' ? battery_level : undefined,
    range: typeof range_km === 'number' ? range_km : undefined,
  }
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

const unknownVehicle = (): OwnerApiError => new OwnerApiError(404, 'This account has no such vehicle.')

const unreadable = (): OwnerApiError => new OwnerApiError(502, 'The owner API’s answer could not be read.')

const closedEndpoint = (): OwnerApiError =>
  new OwnerApiError(
    502,
    'The owner API has closed what this portal asks for. The operator of this portal has to set OWNER_SSO_SERVICE to current.',
  )

function refusedToken(
  advice: string = 'The owner API refuses the tokens of this sign-in. Signing in again does not help: the operator of this portal has to set another OWNER_SSO_TRANSPORT.',
): OwnerApiError {
  return new OwnerApiError(502, advice)
}
