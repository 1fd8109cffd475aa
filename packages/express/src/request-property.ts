/**
 * `req.ownerSso`: whose token a request carries.
 */

/** What `ownerApiBearer` leaves on the request. */
export interface OwnerSso {
  readonly account: string
  /** A valid access token, for a call of one's own. */
  getAccessToken(): Promise<string>
}

declare global {
  // Express's own way to add to its request; without Express's types it adds to nothing.
  namespace Express {
    interface Request {
      ownerSso?: OwnerSso
    }
  }
}
