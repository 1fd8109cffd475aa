/**
 * `mode: 'browser'`: the person signs in on the service's own page, captcha and all, and pastes the address they end on;
 * or it leads back to the application, where that has registered an address of its own.
 */
import { identifyOwner, PendingLoginExpiredError, SsoError, type TokenSet } from '@owner-sso/core'
import type { Request } from 'express'
import { accept } from './verify.ts'
import { askFor, callbackFailureOutcome, failureOutcome } from './failures.ts'
import type { StrategySettings } from './options.ts'
import type { Outcome } from './outcomes.ts'
import type { SignInRequest } from './sign-in-request.ts'
import type { Ending } from './submissions.ts'
import { afterOneMoreTry, newKeptLogin, triesLeft, type PendingCallback } from './pending-login.ts'

/** One request of a sign-in by browser: it asks for a link, or brings the address that the link led to. */
export function signInByBrowser(settings: StrategySettings, incoming: SignInRequest): Promise<Outcome> | Outcome {
  const callbackUrl = incoming.fields.callbackUrl || callbackIn(incoming.request, settings)
  return callbackUrl ? redeem(settings, incoming, callbackUrl) : handOutLink(settings, incoming)
}

/** Where the redirect address of a registered application leads to it, the request itself is the callback. */
function callbackIn({ method, originalUrl }: Request, { sso }: StrategySettings): string {
  const { search, searchParams } = new URL(originalUrl, 'http://here')
  return method === 'GET' && searchParams.has('state') ? sso.redirectUri + search : ''
}

/** A link for this session alone. No request is made. */
async function handOutLink(settings: StrategySettings, { session, fields, options }: SignInRequest): Promise<Outcome> {
  if (!session)
    throw new TypeError('OwnerSsoStrategy needs session support in mode "browser", also with { session: false }.')
  await session.discard()
  const { url, request } = settings.sso.createAuthorizationUrl(fields.identity ? { loginHint: fields.identity } : {})
  const pending = newKeptLogin(Date.now() / 1000 + settings.pendingLoginTtl)
  const login: PendingCallback = { ...pending, step: 'callback', url, request }
  await session.keep(login)
  const message = 'Follow the link, sign in there, and paste the address of the page that you end up on.'
  return askFor(
    { code: 'ERR_SSO_CALLBACK_REQUIRED', message, url, triesLeft: triesLeft(login) },
    options.callbackRedirect,
  )
}

async function redeem(settings: StrategySettings, incoming: SignInRequest, callbackUrl: string): Promise<Outcome> {
  const { session } = incoming
  const tooLate = failureOutcome(new PendingLoginExpiredError())
  const again = session?.again(callbackUrl)
  if (again) return (await again) ?? tooLate
  const pending = session?.peek()
  if (pending?.step !== 'callback') return tooLate
  return (await session?.answer(callbackUrl, () => redeemed(settings, incoming, pending, callbackUrl))) ?? tooLate
}

async function redeemed(
  settings: StrategySettings,
  { request, options }: SignInRequest,
  pending: PendingCallback,
  callbackUrl: string,
): Promise<Ending> {
  let tokens: TokenSet
  try {
    tokens = await settings.sso.redeemCallback(callbackUrl, pending.request, { signal: options.signal })
  } catch (error) {
    // An address that was not the right one spends nothing; anything later may have spent the code.
    const next = error instanceof SsoError && error.step === 'callback' ? afterOneMoreTry(pending) : undefined
    return { outcome: callbackFailureOutcome(error, next ? { url: next.url, triesLeft: triesLeft(next) } : {}), next }
  }
  return { outcome: await accepted(settings, request, tokens, options.signal).catch(failureOutcome) }
}

async function accepted(
  settings: StrategySettings,
  request: Request,
  tokens: TokenSet,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  const identified = await identifyOwner(settings.sso, tokens, { signal })
  return accept(settings, request, identified.owner, identified.tokens)
}
