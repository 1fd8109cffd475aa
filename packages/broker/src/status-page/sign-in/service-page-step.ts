/**
 * The way over the service's own page, for accounts that are asked for a captcha: the person brings back the address that they
 * end on.
 */
import { type Notice, servicePageCard } from '#sign-in-pages'
import { identifyOwner, SsoError } from '@owner-sso/core'
import { BadRequestError, type Exchange, sendPage, sendTo } from '../exchange.ts'
import { page } from '../pages/page.ts'
import type { Reply } from './submissions.ts'
import {
  emailOf,
  finish,
  pageContext,
  problemOf,
  refusalOf,
  RefusedSignInError,
  type SignInSurroundings,
} from './surroundings.ts'

export async function showServicePage(
  around: SignInSurroundings,
  exchange: Exchange,
  account: string | undefined,
  problem?: Notice,
): Promise<void> {
  const before = around.waiting.get(exchange.visitor.id, 'browser')
  const { url } = before !== undefined && before.account === account ? before : begin(around, exchange, account)
  const context = pageContext(around, exchange)
  const content = servicePageCard({ base: around.path, csrfToken: context.formToken, account, url, problem })
  const title = 'Sign in on the service’s page'
  return sendPage(exchange, problem === undefined ? 200 : 401, page(context, title, content))
}

/** Makes no request: the person's browser makes the first. @throws BadRequestError where refreshes are left to others */
function begin({ sso, waiting }: SignInSurroundings, { visitor }: Exchange, account: string | undefined) {
  const loginHint = emailOf(account)
  try {
    const { url, request: authorization } = sso.createAuthorizationUrl(loginHint === undefined ? {} : { loginHint })
    const signIn = { step: 'browser', account, url, authorization } as const
    waiting.set(visitor.id, signIn)
    return signIn
  } catch (error) {
    throw error instanceof SsoError ? new BadRequestError(503, error.message) : error
  }
}

export async function submitServicePage(around: SignInSurroundings, { form, visitor }: Exchange): Promise<Reply> {
  const { sso, waiting, path } = around
  const account = form.get('account') ?? undefined
  const signIn = waiting.take(visitor.id, 'browser')
  try {
    if (signIn === undefined || signIn.account !== account) {
      throw new RefusedSignInError('This sign-in took too long. Start again with the button.')
    }
    const address = form.get('callbackUrl')?.trim() ?? ''
    const { owner, tokens } = await identifyOwner(sso, await sso.redeemCallback(address, signIn.authorization))
    await finish(around, visitor.id, owner.account, account, tokens)
    return (to) => sendTo(to, path)
  } catch (error) {
    // An address that was sent is spent: the next one needs a new sign-in.
    const isSpent = error instanceof SsoError && error.requestSent
    if (signIn !== undefined && !isSpent) waiting.set(visitor.id, signIn)
    const problem = problemOf(refusalOf(error))
    return (to) => showServicePage(around, to, account, problem)
  }
}
