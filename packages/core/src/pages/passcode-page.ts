/**
 * The page that asks for a passcode: at the code exchange as documented, or as the answer to the form (recordings).
 */
import { UnexpectedResponseError } from '../errors.ts'
import type { SsoStep } from '../errors.ts'
import type { HtmlPage } from './html-page.ts'
import type { StepAnswer } from '../http/http-session.ts'
import { hiddenInput } from './login-form.ts'
import type { HiddenInputs } from './login-form.ts'
import type { Verification } from '../steps/mfa-verify.ts'

/** What the second factor's steps need of the page. */
export interface PasscodePage {
  readonly kind: 'passcode-page'
  /** For the verify call: the page's own value, not that of step 1 (interface document, endpoint 5). */
  readonly csrf: string
  /** Where the page names its transaction. */
  readonly transactionId: string | undefined
}

/**
 * Reads the page if it is one: a page with a field named `passcode`, wherever that stands.
 *
 * @throws UnexpectedResponseError where it has no `_csrf`; a verify without it is refused
 */
export function readPasscodePage({ page, status }: StepAnswer, step: SsoStep): PasscodePage | undefined {
  if (!page || !valuesOf(page, 'passcode')) return undefined
  const csrf = valuesOf(page, '_csrf')?.find((value) => value !== '')
  if (csrf === undefined) throw new UnexpectedResponseError('its passcode page holds no _csrf', { step, status })
  return { kind: 'passcode-page', csrf, transactionId: valuesOf(page, 'transaction_id')?.find((value) => value !== '') }
}

/**
 * What a passcode is verified with. The transaction is the one "obtained from the authorize endpoint" (endpoint 4), so that
 * of the login page; a service that has renamed it there may still name it on the passcode page.
 *
 * @throws UnexpectedResponseError where neither page names one
 */
export function verificationOf(page: PasscodePage, loginInputs: HiddenInputs): Verification {
  const transactionId = hiddenInput(loginInputs, 'transaction_id') ?? page.transactionId
  if (transactionId === undefined) {
    throw new UnexpectedResponseError('neither page names the transaction_id', { step: 'mfa-factors' })
  }
  return { transactionId, csrf: page.csrf }
}

/** The error for a second passcode page, after a passcode was accepted. */
export function askedAgain(step: SsoStep): UnexpectedResponseError {
  return new UnexpectedResponseError('it asks for a passcode again after one was accepted', { step })
}

/** The values of all inputs of a name, those beside the passcode first; `undefined` where there is none. */
function valuesOf({ forms, looseInputs }: HtmlPage, name: string): string[] | undefined {
  const groups = [...forms.map((form) => form.inputs), looseInputs]
  const beside = groups.filter((inputs) => inputs.some((input) => input.name === 'passcode'))
  const values = [...beside, ...groups].flat().filter((input) => input.name === name)
  return values.length > 0 ? values.map(({ value }) => value) : undefined
}
