/**
 * A small owner API behind the bearer token: vehicles to show, and plain endpoints that a proxy can be tried on.
 */
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import express, { type Express, type Request, type Response } from 'express'
import { describeMinting, isTaken, mintingOf, type AccessToken } from '../state/access-tokens.ts'
import { respond } from '../answers/respond.ts'
import type { Faults } from '../faults/faults.ts'
import { connectionOf } from '../http/http2-bridge.ts'
import type { Journal } from '../journal/journal.ts'
import { jsonResponse, withReason, type ServiceResponse } from '../http/service-response.ts'
import type { ServiceState } from '../state/service-state.ts'
import { isCurrent, isLenient, isRegistered } from '../state/strictness.ts'
import { refreshedTradeResponse, tradedRefreshToken, tradeResponse } from './token-trade.ts'
import { bareApp, finishApp } from '../answers/web-app.ts'

const maxBytes = 1024 ** 3
const chunk = Buffer.alloc(65_536, 'x')
const eventMilliseconds = 80
const maxEvents = 10_000

/** The vehicles that every account owns. As at the service, their ids are numbers that JavaScript rounds. */
const demoVehicles = [
  {
    id: 10_000_000_000_001_001n,
    id_s: '10000000000001001',
    vehicle_id: 1001,
    vin: 'EMULATED000000001',
    display_name: 'Daily',
    state: 'online',
    battery_level: 76,
    range_km: 388,
  },
  {
    id: 10_000_000_000_001_003n,
    id_s: '10000000000001003',
    vehicle_id: 1003,
    vin: 'EMULATED000000002',
    display_name: 'Weekend',
    state: 'asleep',
    battery_level: 41,
    range_km: 203,
  },
] as const

/** Stands among today's products. */
const demoEnergySite = { energy_site_id: 2001, resource_type: 'battery', site_name: 'Home' } as const

type GuardedResponse = (request: Request, held: AccessToken) => ServiceResponse | Promise<ServiceResponse>

export function createOwnerApi(service: ServiceState, faults: Faults, journal: Journal): Express {
  const app = bareApp(service.settings, journal, () => 'owner-api')

  const endpoint =
    (reply: (request: Request) => Promise<ServiceResponse>) =>
    async (request: Request, response: Response): Promise<void> => {
      const recording = journal.recordingOf(request)
      const fault = faults.take('owner-api')
      recording.asked('owner-api', typeof request.body === 'string' ? request.body : '', fault)
      await respond(response, fault, recording, () => reply(request))
    }

  /** The answer for those who carry a token that is known, unexpired and not revoked (RFC 6750 section 3). */
  async function withToken(request: Request, reply: GuardedResponse): Promise<ServiceResponse> {
    const token = /^Bearer ([\w.~+/-]+=*)$/iu.exec(request.headers.authorization ?? '')?.[1]
    const held = token === undefined ? undefined : service.accessTokens.find(token)
    // The owner API of a registered application and the other one don't take each other's tokens.
    const audience = isRegistered(service.settings) ? service.ownerApiUrl : undefined
    if (!held || held.audience !== audience) {
      service.counters.ownerApiRejections += 1
      const isOfDocument = service.settings.service === 'document' && !held
      return isOfDocument ? unauthorized(token === undefined) : unauthorizedToday()
    }
    if (!isTaken(held.minting, service.settings)) {
      service.counters.ownerApiRefusals += 1
      return forbidden(describeMinting(held.minting))
    }
    const refusing = service.settings.refreshedTokens
    if (refusing && held.isRefreshed && service.clock.now() - held.issuedAt >= (refusing.after ?? 0)) {
      service.counters.ownerApiRefusals += 1
      return refusedAfterRefresh(refusing.status ?? 403)
    }
    service.counters.ownerApiCalls += 1
    return withReason('the access token is good', await reply(request, held))
  }

  const on = (method: 'get' | 'post', path: string, reply: GuardedResponse): unknown =>
    app[method](
      path,
      endpoint((request) => withToken(request, reply)),
    )

  // Newer clients ask for the second alone: all that an account owns.
  for (const path of ['/api/1/vehicles', '/api/1/products']) {
    on('get', path, () => {
      if (isCurrent(service.settings) && path === '/api/1/vehicles') return listClosed
      const response = isCurrent(service.settings) ? [...demoVehicles, demoEnergySite] : demoVehicles
      return jsonResponse(200, { response, count: response.length })
    })
  }
  on('get', '/api/1/vehicles/:id', (request) => vehicleResponse(request, (vehicle) => vehicle))
  on('post', '/api/1/vehicles/:id/command/:name', (request) =>
    vehicleResponse(request, () => ({ result: true, reason: '', command: request.params['name'] })),
  )
  on('get', '/api/1/stream', ({ query }) => eventStream(Number(query['count'] ?? 5)))
  on('get', '/api/1/bytes/:n', ({ params }) => bytes(Number(params['n'])))
  on('post', '/api/1/echo', echo)
  app.post(
    '/oauth/token',
    (_request, _response, next) => next(isLenient(service.settings) ? undefined : 'route'),
    express.text({ type: () => true, limit: '64kb', inflate: false }),
    endpoint(async (request) => {
      const refreshToken = tradedRefreshToken(service, request)
      if (refreshToken !== undefined)
        return refreshedTradeResponse(service, refreshToken, mintingOf(connectionOf(request)))
      return withToken(request, (asked, held) => tradeResponse(service, held, mintingOf(connectionOf(asked))))
    }),
  )
  return finishApp(app)
}

/** A good token that the edge does not like (option `mintedBy`). What it looks at, it keeps to itself. */
function forbidden(minting: string): ServiceResponse {
  return withReason(
    `the access token is good, but was minted over ${minting}`,
    jsonResponse(403, ownerApiError(forbiddenText)),
  )
}

/** What the owner API says in its own words, as recorded in 2026 (`tests/recorded-answers`). */
const forbiddenText = 'forbidden, see https://developer.example.com/docs/fleet-api'
const ownerApiError = (error: string) => ({ response: null, error, error_description: '' })
const listClosed = jsonResponse(
  412,
  ownerApiError('Endpoint is only available on fleetapi. Visit https://developer.example.com/docs for more info'),
)

/** A token that came of a refresh (option `refreshedTokens`). */
function refusedAfterRefresh(status: 401 | 403): ServiceResponse {
  const error = status === 401 ? 'invalid bearer token' : forbiddenText
  return withReason('the access token came of a refresh', jsonResponse(status, ownerApiError(error)))
}

function unauthorizedToday(): ServiceResponse {
  return withReason(
    'the access token is unknown, expired, revoked, or one of the other API',
    jsonResponse(401, ownerApiError('invalid bearer token')),
  )
}

function unauthorized(missing: boolean): ServiceResponse {
  const description = missing ? 'No access token was sent' : 'The access token is unknown, expired or revoked'
  const error = missing ? 'missing_token' : 'invalid_token'
  const body = { response: null, error, error_description: description }
  return withReason(
    `${error}: ${description}`,
    jsonResponse(401, body, { 'www-authenticate': 'Bearer error="invalid_token"' }),
  )
}

function vehicleResponse(
  request: Request,
  reply: (vehicle: (typeof demoVehicles)[number]) => unknown,
): ServiceResponse {
  const vehicle = demoVehicles.find(({ id }) => String(id) === request.params['id'])
  return vehicle
    ? jsonResponse(200, { response: reply(vehicle) })
    : jsonResponse(404, { response: null, error: 'not_found', error_description: 'There is no such vehicle' })
}

/** Server-sent events; `?count=` of them, default 5. */
function eventStream(count: number): ServiceResponse {
  async function* events(): AsyncGenerator<string> {
    for (let id = 1; id <= Math.min(count, maxEvents); id += 1) {
      yield `id: ${id}\nevent: tick\ndata: {"tick":${id}}\n\n`
      await sleep(eventMilliseconds)
    }
  }
  return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: Readable.from(events()) }
}

function bytes(length: number): ServiceResponse {
  if (!Number.isInteger(length) || length < 0 || length > maxBytes) {
    return jsonResponse(400, { response: null, error: 'invalid_length', error_description: `0 to ${maxBytes} bytes` })
  }
  function* chunks(): Generator<Buffer> {
    for (let left = length; left > 0; left -= chunk.length) yield chunk.subarray(0, left)
  }
  const headers = { 'content-type': 'application/octet-stream', 'content-length': String(length) }
  return { status: 200, headers, body: Readable.from(chunks()) }
}

function echo(request: Request): ServiceResponse {
  const contentType = request.headers['content-type'] ?? 'application/octet-stream'
  return { status: 200, headers: { 'content-type': contentType }, body: request }
}
