/**
 * A sign-in with e-mail and password, and with a passcode or a backup code where the account has a second factor.
 */
import { type Notice, passcodeCard, signInCard } from '#sign-in-pages'
import { PasscodeRejectedError, SsoError, typedCode, typedCredential, typedEmail } from '@owner-sso/core'
import { accountNamed } from '../../clients/client-list.ts'
import { page } from '../pages/page.ts'
import type { Reply } from '../submissions.ts'
import { contextOf, type Visit, sendPage, sendTo } from '../visit.ts'
import {
  countTry,
  emailOf,
  finishTyped,
  problemOf,
  RejectedSignInError,
  type SignInParts,
  taken,
} from './sign-in-parts.ts'

/** @param account - whose sign-in it is to be; `undefined`: of an account that is new here */
export function showPassword(
  parts: SignInParts,
  visit: Visit,
  account: string | undefined,
  problem?: Notice,
): Promise<void> {
  const context = contextOf(parts.path, visit)
  const title = account === undefined ? 'Sign an account in' : 'Sign in'
  const identity = visit.form.get('identity') ?? emailOf(account) ?? ''
  const content = signInCard({ base: parts.path, csrfToken: context.formToken, title, account, identity, problem })
  return sendPage(visit, problem === undefined ? 200 : 401, page(context, title, content))
}

export async function submitPassword(parts: SignInParts, { form, visitor }: Visit): Promise<Reply> {
  const account = form.get('account') ?? undefined
  try {
    const path = await sendPassword(parts, visitor.id, account, form)
    return (to) => sendTo(to, path)
  } catch (error) {
    const problem = problemOf(error)
    return (to) => showPassword(parts, to, account, problem)
  }
}

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
  await countTry(parts, identity)
  const outcome = await sso.beginLogin({ identity, credential })
  if (outcome.kind === 'tokens') {
    await finishTyped(parts, visitor, identity, account, outcome.tokens)
    return path
  }
  const { factors, pending } = outcome
  waiting.passcode.set(visitor, { account, identity, factors, pending })
  return `${path}/sign-in/passcode`
}

export async function showPasscode(parts: SignInParts, visit: Visit, problem?: Notice): Promise<void> {
  const signIn = parts.waiting.passcode.get(visit.visitor.id)
  if (signIn === undefined) return sendTo(visit, `${parts.path}/sign-in`)
  const context = contextOf(parts.path, visit)
  const { identity, factors } = signIn
  const chosen = visit.form.get('factor') ?? undefined
  const content = passcodeCard({ base: parts.path, csrfToken: context.formToken, identity, factors, chosen, problem })
  return sendPage(visit, problem === undefined ? 200 : 401, page(context, 'Passcode', content))
}

export async function submitPasscode(parts: SignInParts, { form, visitor }: Visit): Promise<Reply> {
  const { sso, waiting, path } = parts
  // Taken before anything is sent: whatever else is posted finds nothing to send again.
  const signIn = taken(waiting.passcode, visitor.id)
  if (signIn === undefined) {
    // It was a second click, or too late.
    const isDone = waiting.done.has(visitor.id)
    return (to) => sendTo(to, isDone ? path : `${path}/sign-in`)
  }
  const { account, identity, pending } = signIn
  try {
    const answer = answerIn(form)
    await countTry(parts, identity)
    await finishTyped(parts, visitor.id, identity, account, await sso.completeLogin(pending, answer))
    return (to) => sendTo(to, path)
  } catch (error) {
    const takesAnother = error instanceof PasscodeRejectedError && error.reason !== 'too-many-attempts'
    const goesOn = takesAnother || !(error instanceof SsoError)
    if (goesOn) waiting.passcode.set(visitor.id, signIn)
    const problem = problemOf(error)
    return (to) => (goesOn ? showPasscode(parts, to, problem) : showPassword(parts, to, account, problem))
  }
}

/** A text in the passcode's field that can't be a passcode is taken for a backup code. @throws RejectedSignInError */
function answerIn(form: URLSearchParams) {
  const backupCode = typedCode(form.get('backupCode') ?? '')
  const code = typedCode(form.get('passcode') ?? '')
  if (backupCode !== '') return { backupCode }
  if (code === '') throw new RejectedSignInError('Enter the passcode that your device shows, or a backup code.')
  return /^\d{1,8}$/u.test(code) ? { passcode: code, factorId: form.get('factor') ?? undefined } : { backupCode: code }
}
