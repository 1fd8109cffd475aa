/**
 * What can be wrong with the clients.
 */

export type ClientsProblem = 'name-taken' | 'unknown-client' | 'malformed'

/** The message is a sentence for the operator, without a secret. */
export class ClientsError extends Error {
  readonly code = 'ERR_BROKER_CLIENTS'
  readonly reason: ClientsProblem

  constructor(reason: ClientsProblem, message: string) {
    super(message)
    this.name = 'ClientsError'
    this.reason = reason
  }
}
