/**
 * The one request function of owner-sso, and what it stands on: for the issuers of this package and of core. Not for applications:
 * it may change with any release.
 */
export { type Agents, type Connection, type ConnectionCookies, openConnection } from './http/connection.ts'
export { asJsonObject, isJsonType, type JsonObject, parseJson, parseJsonObject } from './http/json-object.ts'
export { answerInTime, type RequestLimits } from './http/one-request.ts'
export { type HttpAnswer, type HttpClient, type HttpRequest, roundTrip, type Sending } from './http/round-trip.ts'
export type { TlsMemory } from './http/agent-sockets.ts'
export { TunnelAgent } from './http/tunnel-agent.ts'
export { unreachableReason } from './http/http-failure.ts'
export type { AgreedTransport } from './http/wire-requests.ts'
