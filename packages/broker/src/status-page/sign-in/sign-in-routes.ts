/**
 * "Sign in again" in place: with e-mail, password and second factor, or on the service's own page.
 */
import type { Route } from '../visit.ts'
import { showPasscode, submitPasscode } from './passcode-step.ts'
import { showPassword, submitPassword } from './password-step.ts'
import { showServicePage, submitServicePage } from './service-page-step.ts'
import { submissions } from './submissions.ts'
import { accountIn, type SignInParts } from './sign-in-parts.ts'

/** By method and what follows the page's path. */
export function signInRoutes(parts: SignInParts): ReadonlyMap<string, Route> {
  const once = submissions()
  // A registered application has no login form to fill in.
  const hasForm = parts.sso.service !== 'registered'
  const showFirst = hasForm ? showPassword : showServicePage
  const submitFirst = hasForm ? submitPassword : submitServicePage
  return new Map<string, Route>([
    ['GET /sign-in', (visit) => showFirst(parts, visit, accountIn(visit))],
    ['POST /sign-in', (visit) => once(visit, () => submitFirst(parts, visit))],
    ['GET /sign-in/passcode', (visit) => showPasscode(parts, visit)],
    ['POST /sign-in/passcode', (visit) => once(visit, () => submitPasscode(parts, visit))],
    ['GET /sign-in/browser', (visit) => showServicePage(parts, visit, accountIn(visit))],
    ['POST /sign-in/browser', (visit) => once(visit, () => submitServicePage(parts, visit))],
  ])
}
