/**
 * One request and its answer, as the journal has it: secrets masked. Tests count requests and connections, people read it.
 */
import type { Endpoint } from '../faults/fault.ts'
import type { Region } from '../options/account-options.ts'
import type { Fields, Headers } from './masking.ts'

/** A request as it arrived, secrets masked. */
export interface LoggedRequest {
  /** Seconds since the epoch by the emulator's clock. */
  readonly at: number
  /** The Host header: it tells the instances apart. */
  readonly host: string
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string | readonly string[]>>
  readonly headers: Readonly<Record<string, string>>
  /** Names and values of a form or JSON body; of any other body its text is not kept. */
  body: Readonly<Record<string, unknown>>
  /** Undefined until answered; 0 if the connection was cut before that, or a fault corrupted the response. */
  status: number | undefined
  /** A number for each connection, from 1. */
  readonly connection: number
  /** `TLSv1.2`, `TLSv1.3`; undefined over plain http. */
  readonly tlsVersion: string | undefined
  /** `1.1`, `2`. */
  readonly httpVersion: string
}

export type Place = Region | 'owner-api'

/** One request and its answer. It grows until `duration` is known. */
export interface Exchange {
  /** From 1, in the order of arrival. */
  readonly id: number
  readonly place: Place
  /** What arrived; its `status` is what the client got. */
  readonly request: LoggedRequest
  /** Milliseconds since the epoch by the machine's clock, and from there to the end of the answer. */
  readonly started: number
  duration?: number
  /** Undefined for an address that nobody serves. */
  endpoint?: Endpoint
  /** The login it belongs to; undefined where nothing tells. And the e-mail of its account, once somebody named it. */
  flow?: number | undefined
  identity?: string | undefined
  /** What was to be sent. */
  answer?: { readonly status: number; readonly headers: Headers; readonly body: Fields }
  /** What the service decided and why. */
  decision?: string | undefined
  /** What was asked for was refused, whatever the status. */
  refused: boolean
  /** The fault that struck. */
  fault?: string | undefined
  /** The firewall's challenge page was the answer. */
  challenged: boolean
}
