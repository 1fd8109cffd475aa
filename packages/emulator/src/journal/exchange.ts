/**
 * One request and its answer, as the journal has it.
 */
import type { Endpoint } from '../faults/fault.ts'
import type { Region } from '../options/account-options.ts'
import type { Fields, Headers } from './masking.ts'
import type { LoggedRequest } from './request-log.ts'

/** Who was asked. */
export type Place = Region | 'owner-api'

/** One request and its answer. It grows until `duration` is known. */
export interface Exchange {
  /** From 1, in the order of arrival. */
  readonly id: number
  readonly place: Place
  /** Undefined for an address that nobody serves. */
  endpoint: Endpoint | undefined
  /** The login it belongs to; undefined where nothing tells. */
  flow: number | undefined
  /** The e-mail of that login's account, once somebody named it. */
  identity: string | undefined
  /** Milliseconds since the epoch by the machine's clock, and from there to the end of the answer. */
  readonly started: number
  duration: number | undefined
  /** What arrived, secrets masked; its `status` is what the client got. */
  readonly request: LoggedRequest
  /** What was to be sent, secrets masked; undefined until then, and where nothing was. */
  answer: { readonly status: number; readonly headers: Headers; readonly body: Fields } | undefined
  /** What the service decided and why. */
  decision: string | undefined
  /** What was asked for was refused, whatever the status. */
  refused: boolean
  /** The fault that struck. */
  fault: string | undefined
  /** The firewall's challenge page was the answer. */
  challenged: boolean
}

/** A request that has just arrived. */
export function newExchange(id: number, place: Place, request: LoggedRequest): Exchange {
  return {
    id,
    place,
    endpoint: undefined,
    flow: undefined,
    identity: undefined,
    started: Date.now(),
    duration: undefined,
    request,
    answer: undefined,
    decision: undefined,
    refused: false,
    fault: undefined,
    challenged: false,
  }
}
