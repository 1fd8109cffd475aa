/**
 * Why a submitted login form was not accepted: the service answers with a page, with status 200 or 401, and the reason is in its
 * words, which may be of any language. Where none is known, the page's structure decides: the field for the credential
 * again, and no captcha.
 *
 * Words count only where the login page did not have them before: it may always carry them, in a help text or a script.
 */
import { type SsoError, type SsoErrorOptions, UnexpectedResponseError } from '@owner-sso/token-manager'
import { AccountLockedError, CaptchaRequiredError, InvalidCredentialsError } from '../errors.ts'
import type { HtmlPage } from './html-page.ts'
import { findLoginForm, showsCaptchaWidget } from './login-form.ts'
import { sightingOf } from './page-sighting.ts'

/** A reason that a page can give. */
export type Reason = 'locked' | 'captcha' | 'credentials'

const reasonWords: readonly (readonly [Reason, RegExp])[] = [
  [
    'locked',
    /account (?:has been |is |was )?(?:temporarily |now )?locked|locked (?:out of )?(?:your|this|the) account/iu,
  ],
  [
    'captcha',
    /captcha (?:does not match|is required|was wrong|is invalid|required)|(?:solve|complete|enter) the (?:re)?captcha/iu,
  ],
  [
    'credentials',
    new RegExp(
      [
        "(?:could ?n[o’']t|could not|cannot|can not|can[’']?t|unable to|failed to) (?:sign|log) (?:you )?in",
        '(?:sign|log)[ -]?in (?:has )?failed|authentication failed',
        '(?:incorrect|wrong|invalid) (?:e-?mail|user ?name|login|password|credentials?)',
        '(?:e-?mail|user ?name|password|credentials?)(?: [a-z-]{1,12}){0,5} (?:incorrect|wrong|invalid|not (?:correct|valid|recogni[sz]ed))',
        "(?:password|credentials?)(?: [a-z-]{1,12}){0,5} (?:do|does|did)(?: not|n[’']t) match",
        "(?:do|does|did)(?: not|n[’']t) recogni[sz]e",
      ].join('|'),
      'iu',
    ),
  ],
]

/** Words of a page that did not look at e-mail and password at all. */
const notChecked =
  /(?:session|request|page|sign-?in|log-?in) (?:has |is |was )?(?:expired|timed out)|temporar|unavailable|maintenance|try again (?:later|in )|went wrong/iu

/** A response to the submitted form, and what it has to be told apart from. */
export interface SubmissionResponse {
  readonly status: number
  readonly page: HtmlPage | undefined
  /** Reasons that the login page had the words of before anything was submitted. */
  readonly knownReasons: readonly Reason[]
  /** What was submitted, so that the page may repeat it. */
  readonly secrets: readonly string[]
}

/**
 * The error for a response without a redirect. The credentials are wrong where the page shows their field again and says so:
 * the same pair is not posted after that. They are probably wrong where it shows the field and says nothing that is known.
 * Any other page is described in the error.
 */
export function submissionError(
  { status, page, knownReasons, secrets }: SubmissionResponse,
  where: SsoErrorOptions,
): SsoError {
  const reason = reasonOf(page, knownReasons)
  if (reason === 'locked') return new AccountLockedError(where)
  const form = page && findLoginForm(page)
  const captcha = form ? form.captcha : page && showsCaptchaWidget(page)
  if (reason === 'captcha' || captcha) return new CaptchaRequiredError(where)
  if (page && asksForCredential(page) && !notChecked.test(page.shownText))
    return new InvalidCredentialsError(reason === 'credentials' ? 'rejected' : 'shown-again', where)
  return new UnexpectedResponseError(`status ${status} and ${sightingOf(page, secrets)}, in place of a redirect`, where)
}

/** Whether a person sees the field for the credential. */
export function asksForCredential(page: HtmlPage): boolean {
  const form = findLoginForm(page)
  return form?.asksFor === 'credential' && form.isShown
}

/** All reasons that a page has the words of. */
export function reasonsOn(page: HtmlPage): Reason[] {
  return [...new Set([...reasonsIn(page.shownText), ...reasonsIn(messagesOf(page))])]
}

/**
 * The new reason that a page gives. What it shows counts first; the texts of its scripts (`var messages = {…}`) count where they
 * name one reason alone, since a page may carry the texts of all.
 */
function reasonOf(page: HtmlPage | undefined, knownReasons: readonly Reason[]): Reason | undefined {
  if (page === undefined) return undefined
  const isNew = (reason: Reason): boolean => !knownReasons.includes(reason)
  const [shown] = reasonsIn(page.shownText).filter(isNew)
  const inScripts = reasonsIn(messagesOf(page))
  return shown ?? (inScripts.length === 1 ? inScripts.find(isNew) : undefined)
}

function reasonsIn(text: string): Reason[] {
  return reasonWords.filter(([, words]) => words.test(text)).map(([reason]) => reason)
}

function messagesOf({ scripts }: HtmlPage): string {
  return scripts.flatMap(messagesIn).join('\n')
}

/** The quoted texts of a script from `messages =` on. Closing quotes are optional, so that no text is scanned twice. */
function messagesIn(script: string): string[] {
  const start = script.search(/\bmessages\s*=/u)
  return start === -1 ? [] : (script.slice(start).match(/"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?/gsu) ?? [])
}
