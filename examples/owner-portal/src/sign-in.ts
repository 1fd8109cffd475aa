/**
 * Sign-in with e-mail and password.
 */
import { typedEmail } from '@owner-sso/core'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import { ownerOf, signIn } from './account.ts'
import { sendPage, type SignInAnswer, takeNotice } from './send-page.ts'
import { authenticate } from './authentication.ts'
import { field } from './fields.ts'
import { type Complaints, type Notice, noticeBox, signInCard } from '@owner-sso/sign-in-pages'
import { html } from 'hono/html'
import { layout } from './pages/layout.ts'
import type { Portal } from './portal.ts'
import { csrfToken } from './form-token.ts'

interface SignInPage extends SignInAnswer {
  readonly news?: Notice
  /** What was typed before, if that was in another form. */
  readonly identity?: string | undefined
}

/** The sign-in page with what was typed; never the password. */
export function showSignIn(
  portal: Portal,
  request: Request,
  response: Response,
  { status, retryAfter, news, identity = field(request, 'identity'), problem, complaints }: SignInPage,
): Promise<void> {
  const lead = 'With your vehicle owner account.'
  const card = { base: '', title: 'Sign in', lead, csrfToken: csrfToken(request), identity, problem, complaints }
  const content = html`${noticeBox(news, 'good')} ${signInCard(card)} ${portal.demo?.('/sign-in')}`
  return sendPage(response, status, layout({ title: 'Sign in', narrow: true }, content), retryAfter)
}

const noForm: RequestHandler = (_request, response) => response.redirect(303, '/sign-in/browser')

export function signInRoutes(portal: Portal): Router {
  const { perAddress, perAccount } = portal.limit
  if (!portal.hasForm) return Router().all('/sign-in', noForm)
  return Router()
    .get('/sign-in', (request, response) => open(portal, request, response))
    .post(
      '/sign-in',
      (request, response, next) => {
        const complaints = complaintsAbout(request)
        return complaints ? showSignIn(portal, request, response, { status: 422, complaints }) : next()
      },
      perAddress,
      perAccount,
      (request, response) => submit(portal, request, response),
    )
}

async function open(portal: Portal, request: Request, response: Response): Promise<void> {
  if (ownerOf(request)) return response.redirect(303, '/')
  return showSignIn(portal, request, response, { status: 200, ...takeNotice(request) })
}

async function submit(portal: Portal, request: Request, response: Response): Promise<void> {
  const outcome = await authenticate(portal, 'form', request, response)
  if (outcome.kind === 'success') {
    portal.limit.succeeded(request, field(request, 'identity'))
    await signIn(request, outcome.owner)
    return response.redirect(303, '/')
  }
  if (outcome.code === 'ERR_SSO_PASSCODE_REQUIRED') return response.redirect(303, '/sign-in/passcode')
  return showSignIn(portal, request, response, outcome)
}

function complaintsAbout(request: Request): Complaints | undefined {
  const identity = typedEmail(field(request, 'identity'))
  const complaints = {
    ...(!/^[^\s@]+@[^\s@]+$/u.test(identity) && { identity: 'Enter the e-mail address of your account.' }),
    ...(field(request, 'credential') === '' && { credential: 'Enter your password.' }),
  }
  return Object.keys(complaints).length > 0 ? complaints : undefined
}
