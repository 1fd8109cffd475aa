/**
 * The page that asks for a passcode: at the code exchange as documented, or as the response to the form (recordings).
 */
import { type SsoStep, UnexpectedResponseError } from '@owner-sso/token-manager'
import type { HtmlPage } from './html-page.ts'
import { hiddenInput, type HiddenInputs } from './login-form.ts'
import { asksForCredential } from './submission-error.ts'
import { scriptLiterals } from './script-literals.ts'

/** What a passcode is verified with. */
export interface Verification {
  readonly transactionId: string
  /** The passcode page's own. */
  readonly csrf: string
}

/** The page that asks for a passcode, as the steps of the second factor need it. */
export interface PasscodePage {
  readonly kind: 'passcode-page'
  /** For the verify call: the page's own value, not that of step 1 (interface document, endpoint 5); the recorded page has none. */
  readonly csrf: string | undefined
  /** Where the page names its transaction. */
  readonly transactionId: string | undefined
}

const csrfName = /^_?csrf(?:_?token)?$/iu
const transactionName = /^transaction_?id$/iu

/**
 * Reads the page if it is one: a page with a field named `passcode`, which may wait in a template, unless the page
 * visibly asks for the credential. Its inputs count first, those in the form of the passcode before others, then the literals of its scripts.
 */
export function readPasscodePage(page: HtmlPage | undefined): PasscodePage | undefined {
  if (!page || !asksForPasscode(page)) return undefined
  const { scripts } = page
  return {
    kind: 'passcode-page',
    csrf: valueOf(page, '_csrf') ?? scriptLiterals(scripts, (name) => csrfName.test(name))[0],
    transactionId: valueOf(page, 'transaction_id') ?? scriptLiterals(scripts, (name) => transactionName.test(name))[0],
  }
}

/**
 * What a passcode is verified with. The transaction is the one "obtained from the authorize endpoint" (endpoint 4), so that
 * of the login page; a service that has renamed it there may still name it on the passcode page. Where the passcode page has no
 * `_csrf`, that of the login page is sent: a service was seen to accept it.
 *
 * @throws UnexpectedResponseError where neither page has them, before a passcode is asked for
 */
export function verificationOf(page: PasscodePage, loginInputs: HiddenInputs): Verification {
  const transactionId = hiddenInput(loginInputs, 'transaction_id') ?? page.transactionId
  const csrf = page.csrf ?? hiddenInput(loginInputs, '_csrf')
  if (transactionId === undefined || csrf === undefined) {
    const missing = transactionId === undefined ? 'transaction_id' : '_csrf'
    throw new UnexpectedResponseError(`neither page holds the ${missing}`, { step: 'mfa-factors', requestSent: false })
  }
  return { transactionId, csrf }
}

/** The error for a second passcode page, after a passcode was accepted. */
export function unexpectedSecondPasscodePage(step: SsoStep): UnexpectedResponseError {
  return new UnexpectedResponseError('it asks for a passcode again after one was accepted', { step })
}

function asksForPasscode(page: HtmlPage): boolean {
  const fields = inputsOf(page)
    .flat()
    .filter(({ name }) => name === 'passcode')
  return fields.some(({ isShown }) => isShown) || (fields.length > 0 && !asksForCredential(page))
}

function valueOf(page: HtmlPage, name: string): string | undefined {
  const groups = inputsOf(page)
  const ofPasscode = groups.filter((inputs) => inputs.some((input) => input.name === 'passcode'))
  return [...ofPasscode, ...groups].flat().find((input) => input.name === name && input.value !== '')?.value
}

function inputsOf({ forms, looseInputs }: HtmlPage): (readonly HtmlPage['looseInputs'][number][])[] {
  return [...forms.map((form) => form.inputs), looseInputs]
}
