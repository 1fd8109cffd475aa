/**
 * The way over the service's own page, for accounts that are asked for a captcha: the person brings back the address that they
 * end on.
 */
import { type Notice, servicePageCard } from '#sign-in-pages'
import { identifyOwner, SsoError } from '@owner-sso/core'
import { BadRequestError, contextOf, type Visit, sendPage, sendTo } from '../visit.ts'
import { page } from '../pages/page.ts'
import type { Reply } from '../submissions.ts'
import { emailOf, finish, problemOf, RejectedSignInError, type SignInParts, taken } from './sign-in-parts.ts'

export async function showServicePage(
  parts: SignInParts,
  visit: Visit,
  account: string | undefined,
  problem?: Notice,
): Promise<void> {
  const before = parts.waiting.page.get(visit.visitor.id)
  const { url } = before !== undefined && before.account === account ? before : begin(parts, visit, account)
  const context = contextOf(parts.path, visit)
  const isOnlyWay = parts.sso.service === 'registered'
  const content = servicePageCard({ base: parts.path, csrfToken: context.formToken, account, url, isOnlyWay, problem })
  const title = 'Sign in on the service’s page'
  return sendPage(visit, problem === undefined ? 200 : 401, page(context, title, content))
}

/** Makes no request: the person's browser makes the first. @throws BadRequestError where refreshes are left to others */
function begin({ sso, waiting }: SignInParts, { visitor }: Visit, account: string | undefined) {
  const loginHint = emailOf(account)
  try {
    const { url, request: authorization } = sso.createAuthorizationUrl(loginHint === undefined ? {} : { loginHint })
    const signIn = { account, url, authorization }
    waiting.page.set(visitor.id, signIn)
    return signIn
  } catch (error) {
    throw error instanceof SsoError ? new BadRequestError(503, error.message) : error
  }
}

export async function submitServicePage(parts: SignInParts, { form, visitor }: Visit): Promise<Reply> {
  const { sso, waiting, path } = parts
  const account = form.get('account') ?? undefined
  const signIn = taken(waiting.page, visitor.id)
  try {
    if (signIn === undefined || signIn.account !== account) {
      throw new RejectedSignInError('This sign-in took too long. Start again with the button.')
    }
    const address = form.get('callbackUrl')?.trim() ?? ''
    const { owner, tokens } = await identifyOwner(sso, await sso.redeemCallback(address, signIn.authorization))
    await finish(parts, visitor.id, owner.account, account, tokens)
    return (to) => sendTo(to, path)
  } catch (error) {
    // An address that was sent is spent: the next one needs a new sign-in.
    const isSpent = error instanceof SsoError && error.requestSent
    if (signIn !== undefined && !isSpent) waiting.page.set(visitor.id, signIn)
    const problem = problemOf(error)
    return (to) => showServicePage(parts, to, account, problem)
  }
}
