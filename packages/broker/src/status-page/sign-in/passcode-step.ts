/**
 * The step with a passcode or a backup code, for an account with a second factor.
 */
import { type Notice, passcodeCard } from '#sign-in-pages'
import { PasscodeRejectedError, SsoError, typedCode } from '@owner-sso/core'
import { type Visit, sendPage, sendTo } from '../visit.ts'
import { page } from '../pages/page.ts'
import type { Visitor } from '../visitor.ts'
import { showPassword } from './password-step.ts'
import type { Reply } from './submissions.ts'
import {
  countTry,
  finishTyped,
  pageContext,
  problemOf,
  rejectionOf,
  RejectedSignInError,
  type SignInParts,
} from './sign-in-parts.ts'

export async function showPasscode(parts: SignInParts, visit: Visit, problem?: Notice): Promise<void> {
  const signIn = parts.waiting.get(visit.visitor.id, 'passcode')
  if (signIn === undefined) return sendTo(visit, `${parts.path}/sign-in`)
  const context = pageContext(parts, visit)
  const { identity, factors } = signIn
  const chosen = visit.form.get('factor') ?? undefined
  const content = passcodeCard({
    base: parts.path,
    csrfToken: context.formToken,
    identity,
    factors,
    chosen,
    problem,
  })
  return sendPage(visit, problem === undefined ? 200 : 401, page(context, 'Passcode', content))
}

export async function submitPasscode(parts: SignInParts, { form, visitor }: Visit): Promise<Reply> {
  const { sso, waiting, path } = parts
  // Taken before anything is sent: whatever else is posted finds nothing to send again.
  const signIn = waiting.take(visitor.id, 'passcode')
  if (signIn === undefined) return elsewhere(parts, visitor)
  const { account, identity, pending } = signIn
  try {
    const answer = answerIn(form)
    countTry(parts, identity)
    await finishTyped(parts, visitor.id, identity, account, await sso.completeLogin(pending, answer))
    return (to) => sendTo(to, path)
  } catch (error) {
    const goesOn = takesAnother(error) || !(error instanceof SsoError)
    if (goesOn) waiting.set(visitor.id, signIn)
    const problem = problemOf(rejectionOf(error))
    return (to) => (goesOn ? showPasscode(parts, to, problem) : showPassword(parts, to, account, problem, 401))
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

/** Where a passcode leads if no sign-in waits for it: it was a second click, or too late. */
function elsewhere({ waiting, path }: SignInParts, { id }: Visitor): Reply {
  const isDone = waiting.get(id, 'done') !== undefined
  return (to) => sendTo(to, isDone ? path : `${path}/sign-in`)
}

/** Whether the sign-in waits for another passcode. */
function takesAnother(error: unknown): boolean {
  return error instanceof PasscodeRejectedError && error.reason !== 'too-many-attempts'
}
