/**
 * An endpoint that the owner API has closed: 412 since 2024, first of all for the list of vehicles (field notes, fourth edition).
 */
import { errorIn, type Refusal } from './refused-token.ts'

/**
 * The owner API answers 412: it has closed what was asked for. It is not about the token, and a new sign-in changes nothing. Not thrown for
 * a 412 in other words, which is the call's own answer.
 */
export class OwnerApiClosedError extends Error {
  readonly code = 'ERR_OWNER_API_CLOSED'
  /** Of the owner API's answer. */
  readonly status = 412
  constructor() {
    super(
      'The owner API has closed this endpoint (412). It lists vehicles at /api/1/products: set service to current ' +
        '(OWNER_SSO_SERVICE=current). If it was not the list, it is closed to this account.',
    )
    this.name = 'OwnerApiClosedError'
  }
}

/** Whether the body of a 412 is the one that was recorded: no answer, and where the endpoint went. */
export function isClosed({ body }: Refusal): boolean {
  return /\bonly\s+available\s+on\b/iu.test(errorIn(body) ?? '')
}
