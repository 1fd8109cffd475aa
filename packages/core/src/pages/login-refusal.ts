/**
 * Why a submitted login form came back: the service answers a page, with status 200 or 401, and says it in words.
 */
import {
  AccountLockedError,
  CaptchaRequiredError,
  InvalidCredentialsError,
  UnexpectedResponseError,
} from '../errors.ts'
import type { SsoError, SsoErrorOptions } from '../errors.ts'
import type { HtmlPage } from './html-page.ts'
import { findLoginForm } from './login-form.ts'

const reasons = [
  {
    said: /account (?:has been |is |was )?(?:temporarily |now )?locked|locked (?:out of )?(?:your|this|the) account/iu,
    error: AccountLockedError,
  },
  {
    said: /captcha (?:does not match|is required|was wrong|is invalid|required)|(?:solve|complete|enter) the (?:re)?captcha/iu,
    error: CaptchaRequiredError,
  },
] as const

/**
 * The error that a page stands for. What it shows counts first; the texts of its scripts (`var messages = {…}`) count
 * where they name one reason alone, since a page may carry the texts of all.
 */
export function loginRefusal(status: number, page: HtmlPage | undefined, where: SsoErrorOptions): SsoError {
  const form = page && findLoginForm(page)
  const shown = reasons.find(({ said }) => said.test(page?.text ?? ''))
  const messages = page?.scripts.flatMap(messagesIn).join('\n') ?? ''
  const inScripts = reasons.filter(({ said }) => said.test(messages))
  const reason = shown ?? (inScripts.length === 1 ? inScripts[0] : undefined)
  if (reason) return new reason.error(where)
  if (form?.captcha) return new CaptchaRequiredError(where)
  if (form || status === 401) return new InvalidCredentialsError(where)
  return new UnexpectedResponseError(`status ${status} without a redirect or a known page`, where)
}

/** The quoted texts of a script from `messages =` on. Closing quotes are optional, so that no text is scanned twice. */
function messagesIn(script: string): string[] {
  const start = script.search(/\bmessages\s*=/u)
  return start === -1 ? [] : (script.slice(start).match(/"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?/gsu) ?? [])
}
