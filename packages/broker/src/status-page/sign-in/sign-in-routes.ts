/**
 * "Sign in again" in place: with e-mail, password and second factor, or on the service's own page.
 */
import type { Route } from '../exchange.ts'
import { showPasscode, submitPasscode } from './passcode-step.ts'
import { showPassword, submitPassword } from './password-step.ts'
import { showServicePage, submitServicePage } from './service-page-step.ts'
import { submissions } from './submissions.ts'
import { accountIn, type SignInSurroundings } from './surroundings.ts'

/** By method and what follows the page's path. */
export function signInRoutes(around: SignInSurroundings): ReadonlyMap<string, Route> {
  const once = submissions()
  return new Map<string, Route>([
    ['GET /sign-in', (exchange) => showPassword(around, exchange, accountIn(exchange))],
    ['POST /sign-in', (exchange) => once(exchange, () => submitPassword(around, exchange))],
    ['GET /sign-in/passcode', (exchange) => showPasscode(around, exchange)],
    ['POST /sign-in/passcode', (exchange) => once(exchange, () => submitPasscode(around, exchange))],
    ['GET /sign-in/browser', (exchange) => showServicePage(around, exchange, accountIn(exchange))],
    ['POST /sign-in/browser', (exchange) => once(exchange, () => submitServicePage(around, exchange))],
  ])
}
