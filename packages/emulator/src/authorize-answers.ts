/**
 * The answers that both authorize endpoints give: cookies, the login page, the passcode page, a refusal.
 */
import { loginPage } from './login-page.ts'
import { noticePage } from './page.ts'
import { passcodePage } from './passcode-page.ts'
import { recordedLoginPage } from './recorded-login-page.ts'
import { because, htmlReply, type Reply } from './reply.ts'
import type { Service } from './service.ts'
import { randomText, sessionCookie, type PendingPasscode, type Session } from './sessions.ts'
import { isLenient } from './strictness.ts'

export const authorizeEndpointPath = '/oauth2/v3/authorize'

/** Seconds that the firewall's own cookies live, as recorded; others live for an hour. */
const cookieSeconds: Readonly<Record<string, number>> = { ak_bmsc: 7200, bm_sz: 14_400, _abck: 31_536_000 }

/** Set again on every authorize answer: the session's cookie, amid the firewall's own; legacy clients keep only the first. */
export function authorizeCookies(service: Service, session?: Session): { readonly 'set-cookie': readonly string[] } {
  const attributes = service.settings.tls ? 'Path=/; Secure' : 'Path=/'
  const others = service.settings.firewallCookies.map(
    (name) => `${name}=${randomText(24)}~-1~; Max-Age=${cookieSeconds[name] ?? 3600}; ${attributes}`,
  )
  const own = session && `${sessionCookie}=${session.id}; ${attributes}; HttpOnly; SameSite=Lax`
  const before = isLenient(service.settings) ? 0 : Math.max(0, others.length - 1)
  return { 'set-cookie': others.toSpliced(before, 0, ...(own ? [own] : [])) }
}

/** A page that says why a request was refused. */
export function refusal(service: Service, status: 400 | 403 | 404, message: string, session?: Session): Reply {
  const page = noticePage('We could not continue', message)
  return because(`refused: ${message}`, htmlReply(status, page, authorizeCookies(service, session)))
}

export function loginPageReply(
  service: Service,
  session: Session,
  { status = 200, message, identity }: { status?: number; message?: string; identity?: string | undefined } = {},
): Reply {
  const build = isLenient(service.settings) ? recordedLoginPage : loginPage
  const body = build({
    action: formAction(session),
    hidden: session.hidden,
    cancelName: session.names.cancel,
    identity,
    message,
    messageInScript: service.settings.errorTexts === 'script',
    captcha:
      session.captcha === undefined ? undefined : { letters: session.captcha, kind: service.settings.captchaKind },
    asksFor: session.asksFor,
    isSecondPage: service.settings.identityFirst && session.asksFor === 'credential',
    inTemplate: session.inTemplate,
  })
  const decision = message === undefined ? 'a session began: the login page' : `the login page again: ${message}`
  return because(decision, htmlReply(status, body, authorizeCookies(service, session)), message !== undefined)
}

export function passcodePageReply(service: Service, session: Session, { csrf }: PendingPasscode): Reply {
  const { transactionId } = session
  const recorded = isLenient(service.settings)
  const { csrf: csrfAt, ...others } = service.settings.passcodePage
  const options = { inTemplate: recorded, csrfAt, ...others }
  const body = passcodePage({ action: formAction(session), csrf, transactionId, recorded, ...options })
  return because(
    'the account has a second factor: the passcode page',
    htmlReply(200, body, authorizeCookies(service, session)),
  )
}

/** Where the form posts to: the query of endpoint 1 without its `login_hint`. */
function formAction({ request }: Session): string {
  const query = new URLSearchParams({
    client_id: 'ownerapi',
    code_challenge: request.codeChallenge,
    code_challenge_method: 'S256',
    redirect_uri: request.redirectUri,
    response_type: 'code',
    scope: 'openid email offline_access',
    state: request.state,
  })
  return `${authorizeEndpointPath}?${query.toString()}`
}
