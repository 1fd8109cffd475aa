/**
 * What can be wrong with the clients, or with the place that keeps them.
 */

export type ClientsProblem =
  | 'name-taken'
  | 'unknown-client'
  | 'malformed'
  | 'unreadable'
  | 'unwritable'
  | 'not-private'
  | 'busy'

/** The message is a sentence for the operator: it may name a file, never a secret. */
export class ClientsError extends Error {
  readonly code = 'ERR_BROKER_CLIENTS'
  readonly reason: ClientsProblem

  constructor(reason: ClientsProblem, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'ClientsError'
    this.reason = reason
  }
}
