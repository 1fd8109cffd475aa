/**
 * Why a submitted login form was not accepted: the service answers a page, with status 200 or 401, and says it in words.
 *
 * Words count where they are new: a login page may always carry them, in a help text or in the texts of its scripts.
 */
import { type SsoError, type SsoErrorOptions, UnexpectedResponseError } from '@owner-sso/token-manager'
import { AccountLockedError, CaptchaRequiredError, InvalidCredentialsError } from '../errors.ts'
import type { HtmlPage } from './html-page.ts'
import { findLoginForm, showsCaptchaWidget } from './login-form.ts'
import { sightingOf } from './page-sighting.ts'

/** A reason that a page can give. */
export type Reason = 'locked' | 'captcha' | 'credentials'

const words: readonly (readonly [Reason, RegExp])[] = [
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

/** What says that the pair was not judged at all. */
const notJudged =
  /(?:session|request|page|sign-?in|log-?in) (?:has |is |was )?(?:expired|timed out)|temporar|unavailable|maintenance|try again (?:later|in )|went wrong/iu

/** A response to the submitted form, and what it has to be told apart from. */
export interface SubmissionResponse {
  readonly status: number
  readonly page: HtmlPage | undefined
  /** What the login page said before anything was submitted. */
  readonly saidBefore: readonly Reason[]
  /** What was submitted, so that the page may repeat it. */
  readonly secrets: readonly string[]
}

/**
 * The error that a response stands for. The credentials are wrong only where the page shows their field again, and says so or
 * has status 401: the pair is not posted again after that. Whatever else comes is told as it was seen.
 */
export function loginRefusal(
  { status, page, saidBefore, secrets }: SubmissionResponse,
  where: SsoErrorOptions,
): SsoError {
  const reason = reasonOf(page, saidBefore)
  if (reason === 'locked') return new AccountLockedError(where)
  const form = page && findLoginForm(page)
  const captcha = form ? form.captcha : page && showsCaptchaWidget(page)
  if (reason === 'captcha' || captcha) return new CaptchaRequiredError(where)
  const isJudged = (reason === 'credentials' || status === 401) && !notJudged.test(page?.shownText ?? '')
  if (page && asksForCredential(page) && isJudged) return new InvalidCredentialsError(where)
  return new UnexpectedResponseError(`status ${status} and ${sightingOf(page, secrets)}, in place of a redirect`, where)
}

/** Whether a person sees the field for the credential. */
export function asksForCredential(page: HtmlPage): boolean {
  const form = findLoginForm(page)
  return form?.asksFor === 'credential' && form.isShown
}

/** All reasons that a page has the words of. */
export function reasonsSaid(page: HtmlPage): Reason[] {
  return [...new Set([...reasonsIn(page.shownText), ...reasonsIn(messagesOf(page))])]
}

/**
 * The one that a page gives. What it shows counts first; the texts of its scripts (`var messages = {…}`) count where they name
 * one reason alone, since a page may carry the texts of all.
 */
function reasonOf(page: HtmlPage | undefined, saidBefore: readonly Reason[]): Reason | undefined {
  if (page === undefined) return undefined
  const isNew = (reason: Reason): boolean => !saidBefore.includes(reason)
  const [shown] = reasonsIn(page.shownText).filter(isNew)
  const inScripts = reasonsIn(messagesOf(page))
  return shown ?? (inScripts.length === 1 ? inScripts.find(isNew) : undefined)
}

function reasonsIn(text: string): Reason[] {
  return words.filter(([, said]) => said.test(text)).map(([reason]) => reason)
}

function messagesOf({ scripts }: HtmlPage): string {
  return scripts.flatMap(messagesIn).join('\n')
}

/** The quoted texts of a script from `messages =` on. Closing quotes are optional, so that no text is scanned twice. */
function messagesIn(script: string): string[] {
  const start = script.search(/\bmessages\s*=/u)
  return start === -1 ? [] : (script.slice(start).match(/"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?/gsu) ?? [])
}
