/**
 * The step with e-mail and password. Where it leads depends on the account: to its passcode, or to the end.
 */
import { typedCredential, typedEmail } from '@owner-sso/core'
import { type Notice, signInCard } from '#sign-in-pages'
import { accountNamed } from '../../clients/client-list.ts'
import { type Visit, sendPage, sendTo } from '../visit.ts'
import { page } from '../pages/page.ts'
import type { Reply } from './submissions.ts'
import {
  countTry,
  emailOf,
  finishTyped,
  pageContext,
  problemOf,
  rejectionOf,
  RejectedSignInError,
  type SignInParts,
} from './sign-in-parts.ts'

/** @param account - whose sign-in it is to be; `undefined`: of an account that is new here */
export function showPassword(
  parts: SignInParts,
  visit: Visit,
  account: string | undefined,
  problem?: Notice,
  status = 200,
): Promise<void> {
  const context = pageContext(parts, visit)
  const title = account === undefined ? 'Sign an account in' : 'Sign in'
  const identity = visit.form.get('identity') ?? emailOf(account) ?? ''
  const content = signInCard({ base: parts.path, csrfToken: context.formToken, title, account, identity, problem })
  return sendPage(visit, status, page(context, title, content))
}

export async function submitPassword(parts: SignInParts, { form, visitor }: Visit): Promise<Reply> {
  const account = form.get('account') ?? undefined
  try {
    const path = await sendPassword(parts, visitor.id, account, form)
    return (to) => sendTo(to, path)
  } catch (error) {
    const problem = problemOf(rejectionOf(error))
    return (to) => showPassword(parts, to, account, problem, 401)
  }
}

/** Resolves to where the person goes on. */
async function sendPassword(
  parts: SignInParts,
  visitor: string,
  account: string | undefined,
  form: URLSearchParams,
): Promise<string> {
  const { sso, waiting, path } = parts
  const [identity, credential] = [typedEmail(form.get('identity') ?? ''), typedCredential(form.get('credential') ?? '')]
  const isEmail = /^[^\s@]+@[^\s@]+$/u.test(identity) && accountNamed(identity) !== undefined
  if (!isEmail || credential === '') throw new RejectedSignInError('Enter the e-mail and the password of the account.')
  countTry(parts, identity)
  const outcome = await sso.beginLogin({ identity, credential })
  if (outcome.kind === 'tokens') {
    await finishTyped(parts, visitor, identity, account, outcome.tokens)
    return path
  }
  const { factors, pending } = outcome
  waiting.set(visitor, { step: 'passcode', account, identity, factors, pending })
  return `${path}/sign-in/passcode`
}
