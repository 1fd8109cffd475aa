/**
 * The node `owner API call`: GET and POST, through the rules of the strict proxy.
 */
import type { OwnerApiErrorCode } from '@owner-sso/express'
import { isBelow, isPlainQuery, isUnambiguous, ownerApiErrors } from '@owner-sso/express/support'
import type { AccountNode } from './account.ts'
import type { Config, Message } from './node-red.ts'

const allowedPaths = ['/api/1/']

/** What a flow may want to know of an answer, and may send on with another body. */
const answerHeaders = ['content-type', 'date', 'etag', 'last-modified', 'retry-after']

/** Why a call was not made, or brought nothing. */
class OwnerApiCallError extends Error {
  readonly code: OwnerApiErrorCode
  constructor(code: OwnerApiErrorCode) {
    super(ownerApiErrors[code][1])
    this.name = 'OwnerApiCallError'
    this.code = code
  }
}

/**
 * Puts the answer on the message: `payload`, `statusCode` and `headers`, whatever the status, as Node-RED's own `http request`
 * does.
 *
 * @throws OwnerApiCallError, OwnerApiTokenRefusedError, what `getAccessToken` throws
 */
export async function callOwnerApi(
  node: AccountNode,
  config: Config,
  message: Message,
  signal: AbortSignal,
): Promise<void> {
  const { method, address, listsVehicles } = requestOf(node, config, message)
  const body = method === 'POST' && message['payload'] !== undefined ? serialized(message['payload']) : undefined
  const headers = { accept: 'application/json', ...(body !== undefined && { 'content-type': 'application/json' }) }
  const call = node.call()
  try {
    const answer = await call(address, { method, headers, signal, ...(body !== undefined && { body }) })
    const payload = parsed(await answer.text())
    message['payload'] = listsVehicles && answer.ok ? withoutEnergySites(payload) : payload
    message['statusCode'] = answer.status
    message['headers'] = Object.fromEntries(
      answerHeaders.flatMap((name) => {
        const value = answer.headers.get(name)
        return value === null ? [] : [[name, value]]
      }),
    )
  } catch (error) {
    if (signal.aborted) throw new OwnerApiCallError('ERR_OWNER_API_TIMEOUT')
    // Node's fetch says nothing else where there was no answer.
    if (error instanceof TypeError && error.cause !== undefined)
      throw new OwnerApiCallError('ERR_OWNER_API_UNREACHABLE')
    throw error
  }
}

/** Vehicles have a VIN; energy sites, which stand among an account's products, have none. */
function withoutEnergySites(payload: unknown): unknown {
  const { response }: { response?: unknown } = Object(payload)
  if (!Array.isArray(response)) return payload
  const vehicles = response.filter((product) => Boolean(Object(product).vin))
  return { ...Object(payload), response: vehicles, count: vehicles.length }
}

interface OwnerApiRequest {
  readonly method: 'GET' | 'POST'
  readonly address: string
  readonly listsVehicles: boolean
}

function requestOf(node: AccountNode, config: Config, message: Message): OwnerApiRequest {
  const { method, path, listsVehicles = false } = methodAndPath(node, config, message)
  if (method !== 'GET' && method !== 'POST') throw new OwnerApiCallError('ERR_OWNER_API_METHOD_NOT_ALLOWED')
  const [pathname = '', ...rest] = path.split('?')
  const written = rest.join('?')
  if (!isUnambiguous(pathname) || !isPlainQuery(written)) throw new OwnerApiCallError('ERR_OWNER_API_MALFORMED_PATH')
  if (!isBelow(pathname, allowedPaths)) throw new OwnerApiCallError('ERR_OWNER_API_PATH_NOT_ALLOWED')
  const query = [written, new URLSearchParams(queryOf(message)).toString()].filter(Boolean).join('&')
  return { method, address: query === '' ? pathname : `${pathname}?${query}`, listsVehicles }
}

/** Where the node says nothing, the message does. */
function methodAndPath(
  node: AccountNode,
  config: Config,
  message: Message,
): { readonly method: string; readonly path: string; readonly listsVehicles?: true } {
  const given = (name: string): string => textOf(name, config[name]) || textOf(name, message[name])
  switch (config['call']) {
    case 'other':
      return { method: given('method').toUpperCase() || 'GET', path: given('path') }
    case 'vehicle': {
      const id = given('vehicle')
      if (id === '') throw new Error('Which vehicle? Give its id in the node’s settings, or in msg.vehicle.')
      return { method: 'GET', path: `/api/1/vehicles/${encodeURIComponent(id)}` }
    }
    default:
      return { method: 'GET', path: node.vehicleList(), listsVehicles: true }
  }
}

/** `msg.query`: for paging, say. */
function queryOf({ query }: Message): [string, string][] {
  if (typeof query !== 'object' || query === null) return []
  return Object.entries(query).map(([name, value]) => {
    requireExact(`msg.query.${name}`, value)
    return [name, String(value)]
  })
}

function textOf(name: string, value: unknown): string {
  requireExact(`msg.${name}`, value)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/**
 * JSON whose whole numbers stay what they are. JavaScript rounds those beyond 2⁵³, such as the id of a vehicle: a call with a
 * rounded one is about another vehicle, or none.
 */
const textOrNumber = /"(?:[^"\\]+|\\.)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/giu

/** @returns what a JSON text says, with long whole numbers as texts; what is no JSON, as it came */
function parsed(text: string): unknown {
  try {
    JSON.parse(text)
  } catch {
    return text
  }
  return JSON.parse(text.replace(textOrNumber, (each) => (isRounded(each) ? `"${each}"` : each)))
}

/** @throws TypeError that names the first number which can't be what was meant */
function serialized(value: unknown): string {
  return JSON.stringify(value, (name, each: unknown) => {
    requireExact(name === '' ? 'msg.payload' : `“${name}” in msg.payload`, each)
    return each
  })
}

/** @throws TypeError */
function requireExact(name: string, value: unknown): void {
  if (typeof value !== 'number' || (Number.isFinite(value) && !isBeyond(value))) return
  throw new TypeError(
    `${name} is a number that JavaScript can’t hold exactly. Give it as a text (of a vehicle: its id_s).`,
  )
}

const isRounded = (written: string): boolean => /^-?\d+$/u.test(written) && isBeyond(Number(written))

const isBeyond = (value: number): boolean => Number.isInteger(value) && !Number.isSafeInteger(value)
