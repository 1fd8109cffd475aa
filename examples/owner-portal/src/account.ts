/**
 * Who is signed in: Passport's user, its sign-in and its sign-out as promises.
 */
import type { OwnerSsoUser } from '@owner-sso/passport'
import type { Request } from 'express'

declare global {
  namespace Express {
    /** The user in the session is the strategy's own. No token is part of it (reliability scenario M4). */
    interface User extends OwnerSsoUser {}
  }
}

export type Owner = Express.User

export function ownerOf(request: Request): Owner | undefined {
  return request.user
}

/** Makes `owner` the session's user; the session gets a new id (S54). */
export function signIn(request: Request, owner: Owner): Promise<void> {
  return new Promise((resolve, reject) => {
    request.logIn(owner, (error?: Error | null) => (error ? reject(error) : resolve()))
  })
}

/** Ends the session; the next one has a new id (S54). */
export function signOut(request: Request): Promise<void> {
  return new Promise((resolve, reject) => {
    request.logOut((error?: Error | null) => (error ? reject(error) : resolve()))
  })
}
