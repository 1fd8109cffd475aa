/**
 * The answers that both authorize endpoints give: cookies, the login page, the passcode page, a refusal.
 */
import { loginPage, type LoginPageContent } from '../pages/login-page.ts'
import { noticePage } from '../pages/page.ts'
import { passcodePage } from '../pages/passcode-page.ts'
import { withReason, htmlResponse, type ServiceResponse } from '../http/service-response.ts'
import type { ServiceState } from '../state/service-state.ts'
import { randomText, sessionCookie, type AskedPasscode, type Session } from '../state/sessions.ts'
import { isLenient } from '../state/strictness.ts'

/** Seconds that the firewall's own cookies live, as recorded. */
const cookieSeconds = { ak_bmsc: 7200, bm_sz: 14_400, _abck: 31_536_000 }

/** Set again on every authorize answer: the session's cookie, amid the firewall's own; legacy clients keep only the first. */
export function authorizeCookies(
  service: ServiceState,
  session?: Session,
): { readonly 'set-cookie': readonly string[] } {
  const attributes = service.settings.tls ? 'Path=/; Secure' : 'Path=/'
  const others = Object.entries(cookieSeconds).map(
    ([name, seconds]) => `${name}=${randomText(24)}~-1~; Max-Age=${seconds}; ${attributes}`,
  )
  const own = session && `${sessionCookie}=${session.id}; ${attributes}; HttpOnly; SameSite=Lax`
  const before = isLenient(service.settings) ? 0 : -1
  return { 'set-cookie': others.toSpliced(before, 0, ...(own ? [own] : [])) }
}

export function refusal(
  service: ServiceState,
  status: 400 | 403 | 404,
  message: string,
  session?: Session,
): ServiceResponse {
  const page = noticePage('We could not continue', message)
  return withReason(`refused: ${message}`, htmlResponse(status, page, authorizeCookies(service, session)))
}

export function loginPageResponse(
  service: ServiceState,
  session: Session,
  { status = 200, ...content }: LoginPageContent & { readonly status?: number } = {},
): ServiceResponse {
  const { message } = content
  const body = loginPage(session, service.settings, content)
  const decision = message === undefined ? 'a session began: the login page' : `the login page again: ${message}`
  return withReason(decision, htmlResponse(status, body, authorizeCookies(service, session)), message !== undefined)
}

export function passcodePageResponse(
  service: ServiceState,
  session: Session,
  { csrf }: AskedPasscode,
): ServiceResponse {
  const body = passcodePage(session, service.settings, csrf)
  return withReason(
    'the account has a second factor: the passcode page',
    htmlResponse(200, body, authorizeCookies(service, session)),
  )
}
