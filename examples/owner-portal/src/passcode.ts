/**
 * The second step of a sign-in: the passcode of a device, or a backup code.
 */
import { typedCode } from '@owner-sso/core'
import type { PendingLoginView } from '@owner-sso/passport'
import { type Request, type Response, Router } from 'express'
import { signIn } from './account.ts'
import { sendPage, type SignInAnswer } from './send-page.ts'
import { authenticate } from './authentication.ts'
import { field, hasField } from './fields.ts'
import { type Complaints, csrfField, passcodeCard } from '@owner-sso/sign-in-pages'
import { html } from 'hono/html'
import { layout } from './pages/layout.ts'
import type { Portal } from './portal.ts'
import { csrfToken } from './form-token.ts'
import { showSignIn } from './sign-in.ts'
import { tooLate } from './trouble.ts'

type PasscodeStep = PendingLoginView & { readonly step: 'passcode' }

export function passcodeRoutes(portal: Portal): Router {
  return Router()
    .get('/sign-in/passcode', (request, response) => open(portal, request, response))
    .post('/sign-in/passcode', (request, response) => submit(portal, request, response))
    .post('/sign-in/start-over', (request, response) => startOver(portal, request, response))
}

async function open(portal: Portal, request: Request, response: Response): Promise<void> {
  const step = passcodeStep(portal, request)
  if (!step) return response.redirect(303, '/sign-in')
  return show(portal, request, response, step, { status: 200 })
}

async function submit(portal: Portal, request: Request, response: Response): Promise<void> {
  const step = passcodeStep(portal, request)
  const complaints = complaintsAbout(request)
  if (step && complaints) return show(portal, request, response, step, { status: 422, complaints })
  if (complaints) return showSignIn(portal, request, response, { status: 401, problem: tooLate })

  // Also where nothing waits: at a second click, the first one's passcode is on its way, and both end alike.
  const outcome = await authenticate(portal, 'form', request, response)
  if (outcome.kind === 'failure') {
    // The passcode page again as long as there is something to try, else the sign-in page.
    const next = passcodeStep(portal, request)
    if (next) return show(portal, request, response, next, outcome)
    return showSignIn(portal, request, response, { ...outcome, identity: step?.identity })
  }
  if (step) portal.limit.succeeded(request, step.identity)
  await signIn(request, outcome.owner)
  return response.redirect(303, '/')
}

async function startOver(portal: Portal, request: Request, response: Response): Promise<void> {
  await portal.form.cancelPendingLogin(request)
  response.redirect(303, '/sign-in')
}

function passcodeStep(portal: Portal, request: Request): PasscodeStep | undefined {
  const pending = portal.form.pendingLogin(request)
  return pending?.step === 'passcode' ? pending : undefined
}

function show(
  portal: Portal,
  request: Request,
  response: Response,
  { identity, factors }: PasscodeStep,
  { status, retryAfter, problem, complaints }: SignInAnswer,
): Promise<void> {
  const token = csrfToken(request)
  const chosen = field(request, 'factor')
  const below = html`<form method="post" action="/sign-in/start-over">
    ${csrfField(token)}<button class="link small" type="submit">Start again with another account</button>
  </form>`
  const card = passcodeCard({ base: '', csrfToken: token, identity, factors, chosen, problem, complaints, below })
  const content = html`${card} ${portal.demo?.('/sign-in/passcode')}`
  return sendPage(response, status, layout({ title: 'Passcode', narrow: true }, content), retryAfter)
}

/** As the strategy reads them: people type codes in groups. */
function complaintsAbout(request: Request): Complaints | undefined {
  if (typedCode(field(request, 'backupCode')) !== '') return undefined
  if (hasField(request, 'backupCode')) return { backupCode: 'Enter one of your backup codes.' }
  const passcode = typedCode(field(request, 'passcode'))
  if (!/^[0-9]{6,8}$/u.test(passcode)) return { passcode: 'Enter the six digits that your device shows.' }
  return undefined
}
