/**
 * Sign-in on the service's own page: the person brings back the address that they end on.
 */
import { pastedAddress } from '@owner-sso/core'
import { type Request, type Response, Router } from 'express'
import { signIn } from './account.ts'
import { sendPage, type SignInAnswer } from './send-page.ts'
import { authenticate } from './authentication.ts'
import { field } from './fields.ts'
import { type Notice, servicePageCard } from '@owner-sso/sign-in-pages'
import { html } from 'hono/html'
import { layout } from './pages/layout.ts'
import type { Portal } from './portal.ts'
import { csrfToken } from './form-token.ts'

/** The service asked for the passcode only after its own page was done: it can be entered in the portal's form alone. */
const passcodeHere: Notice = {
  title: 'The service wants a passcode as well',
  text: 'That works only with e-mail and password in this portal.',
  link: { href: '/sign-in', label: 'Sign in with e-mail and password' },
}

/** Where the redirect address of a registered application may lead to: then nobody pastes anything. */
const callbackPath = '/sign-in/callback'

export function browserSignInRoutes(portal: Portal): Router {
  return Router()
    .get(
      '/sign-in/browser',
      (request, response, next) =>
        pendingUrl(portal, request) ? next() : portal.limit.newLinks(request, response, next),
      (request, response) => show(portal, request, response, { status: 200 }),
    )
    .post('/sign-in/browser', portal.limit.perAddress, (request, response) => submit(portal, request, response))
    .get(callbackPath, portal.limit.perAddress, (request, response) => finish(portal, request, response))
}

async function submit(portal: Portal, request: Request, response: Response): Promise<void> {
  if (!isCallback(field(request, 'callbackUrl'), portal.redirectUri)) {
    const callbackUrl = 'Paste the whole address: it starts as shown above, and has “code=” in it.'
    return show(portal, request, response, { status: 422, complaints: { callbackUrl } })
  }
  return finish(portal, request, response)
}

async function finish(portal: Portal, request: Request, response: Response): Promise<void> {
  // Also where nothing waits: at a second click, the first one's address is on its way, and both end alike.
  const outcome = await authenticate(portal, 'browser', request, response)
  if (outcome.kind === 'failure') {
    const wantsPasscode = outcome.code === 'ERR_SSO_PASSCODE_REQUIRED'
    return show(portal, request, response, wantsPasscode ? { status: 401, problem: passcodeHere } : outcome)
  }
  await signIn(request, outcome.owner)
  return response.redirect(303, '/')
}

async function show(
  portal: Portal,
  request: Request,
  response: Response,
  { status, problem, complaints, retryAfter }: SignInAnswer,
): Promise<void> {
  const url = pendingUrl(portal, request) ?? (await start(portal, request, response))
  if (status === 200 && new URL(portal.redirectUri).pathname === callbackPath) return response.redirect(303, url)
  const [base, isOnlyWay] = ['', !portal.hasForm]
  const card = servicePageCard({ base, csrfToken: csrfToken(request), url, isOnlyWay, problem, complaints })
  const content = html`${card} ${portal.demo?.('/sign-in/browser')}`
  const title = 'Sign in on the service’s page'
  return sendPage(response, status, layout({ title, narrow: true }, content), retryAfter)
}

/** The service's login page for the sign-in that is under way in this session. */
function pendingUrl(portal: Portal, request: Request): string | undefined {
  const pending = portal.browser.pendingLogin(request)
  return pending?.step === 'callback' ? pending.url : undefined
}

/** Begins one. No request is made: the person's browser makes the first. */
async function start(portal: Portal, request: Request, response: Response): Promise<string> {
  // A passcode step of this session is given up with it: its password needn't wait any longer.
  await portal.form.cancelPendingLogin(request)
  // Neither what was posted nor the address that was opened belongs to the new one.
  request.body = {}
  request.originalUrl = request.path
  const outcome = await authenticate(portal, 'browser', request, response)
  if (outcome.kind === 'failure' && outcome.url !== undefined) return outcome.url
  throw new Error('The strategy began no sign-in on the service’s page.')
}

/** Whether it looks like an address that a sign-in ends on: on the web, or in the scheme that the service redirects to. */
function isCallback(text: string, redirectUri: string): boolean {
  const address = pastedAddress(text, redirectUri)
  if (!URL.canParse(address) || !address.includes('code=')) return false
  const { protocol } = new URL(address)
  return /^https?:$/u.test(protocol) || protocol === new URL(redirectUri).protocol
}
