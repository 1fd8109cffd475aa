/**
 * What a signed-in owner sees and does: vehicles, the token's state, refresh, sign out.
 */
import { ReauthenticationRequiredError, SignedOutError } from '@owner-sso/core'
import { type Request, type RequestHandler, type Response, Router } from 'express'
import { type Owner, ownerOf, signOut } from './account.ts'
import { sendPage, takeNotice } from './send-page.ts'
import { type Notice, timeLeft } from '@owner-sso/sign-in-pages'
import type { Vehicle } from './owner-api.ts'
import { homePage } from './pages/home-page.ts'
import { ownerApiPath, type Portal } from './portal.ts'
import { csrfToken } from './form-token.ts'
import { type Trouble, unavailable } from './trouble.ts'

type OwnerHandler = (portal: Portal, owner: Owner, request: Request, response: Response) => Promise<void>

export function homeRoutes(portal: Portal): Router {
  return Router()
    .get('/', forOwner(portal, showHome))
    .post('/refresh', forOwner(portal, refresh))
    .post('/sign-out', forOwner(portal, forget))
}

/** Only for the signed-in. Whose tokens are gone signs in again. */
function forOwner(portal: Portal, handle: OwnerHandler): RequestHandler {
  return async (request, response) => {
    const owner = ownerOf(request)
    if (!owner) return response.redirect(303, '/sign-in')
    try {
      return await handle(portal, owner, request, response)
    } catch (error) {
      if (error instanceof SignedOutError) return leave(request, response, signedOut)
      if (error instanceof ReauthenticationRequiredError) return leave(request, response, ended)
      throw error
    }
  }
}

const signedOut = { title: 'You were signed out', text: 'Sign in again to see your vehicles.' }
const ended = { title: 'Please sign in again', text: 'Your sign-in can no longer be renewed.' }

async function leave(request: Request, response: Response, notice: Notice): Promise<void> {
  await signOut(request)
  request.session.notice = notice
  response.redirect(303, '/sign-in')
}

async function forget({ tokens }: Portal, { account }: Owner, request: Request, response: Response): Promise<void> {
  await tokens.forget(account)
  await leave(request, response, { title: 'You are signed out', text: 'Your tokens were deleted.' })
}

async function showHome(
  portal: Portal,
  { account, email = account }: Owner,
  request: Request,
  response: Response,
  failed?: Trouble,
): Promise<void> {
  const found = await vehiclesOf(portal, account)
  const trouble = failed ?? ('problem' in found ? found : undefined)
  const page = homePage({
    account: email,
    csrfToken: csrfToken(request),
    vehicles: 'vehicles' in found ? found.vehicles : undefined,
    listPath: ownerApiPath + portal.vehicleList,
    // After the call: it may have renewed the token.
    status: await portal.tokens.status(account),
    now: Date.now() / 1000,
    ...(trouble && { problem: trouble.problem }),
    ...takeNotice(request),
  })
  return sendPage(response, trouble?.status ?? 200, page, trouble?.retryAfter)
}

async function vehiclesOf({ vehicles }: Portal, account: string): Promise<{ vehicles: Vehicle[] } | Trouble> {
  try {
    return { vehicles: await vehicles(account) }
  } catch (error) {
    const trouble = unavailable(error)
    if (!trouble) throw error
    return trouble
  }
}

async function refresh(portal: Portal, owner: Owner, request: Request, response: Response): Promise<void> {
  const { tokens } = portal
  let isSame: boolean
  try {
    // Compares the token, not its times: they are whole seconds, and a new token can have the same.
    const before = await tokens.getAccessToken(owner.account)
    await tokens.refresh(owner.account)
    isSame = (await tokens.getAccessToken(owner.account)) === before
  } catch (error) {
    const trouble = unavailable(error)
    if (!trouble) throw error
    return showHome(portal, owner, request, response, trouble)
  }
  const { expires_at: expiresAt = 0 } = await tokens.status(owner.account)
  const left = Math.max(0, expiresAt - Date.now() / 1000)
  request.session.notice = isSame
    ? { title: 'Your token is already fresh', text: 'It was renewed less than a minute ago. Nothing was sent.' }
    : { title: 'Your token was renewed', text: `It works for ${timeLeft(left)}.` }
  response.redirect(303, '/')
}
