/** The answers that both authorize endpoints give: cookies, the login page, the passcode page, a refusal. */
import { loginPage } from './login-page.ts'
import { noticePage } from './page.ts'
import { passcodePage } from './passcode-page.ts'
import { htmlReply, type Reply } from './reply.ts'
import type { Service } from './service.ts'
import { randomText, SESSION_COOKIE, type PendingPasscode, type Session } from './sessions.ts'

export const AUTHORIZE_PATH = '/oauth2/v3/authorize'

/** Set again on every authorize answer: the session's cookie, and the firewall's own. */
export function authorizeCookies(service: Service, session?: Session): { readonly 'set-cookie': readonly string[] } {
  const attributes = service.settings.tls ? 'Path=/; Secure' : 'Path=/'
  return {
    'set-cookie': [
      `ak_bmsc=${randomText(24)}~; Max-Age=7200; ${attributes}; HttpOnly`,
      `bm_sz=${randomText(24)}~1; Max-Age=14400; ${attributes}`,
      ...(session ? [`${SESSION_COOKIE}=${session.id}; ${attributes}; HttpOnly; SameSite=Lax`] : []),
      `_abck=${randomText(24)}~-1~; Max-Age=31536000; ${attributes}`,
    ],
  }
}

/** A page that says why a request was refused. */
export function refusal(service: Service, status: 400 | 403, message: string, session?: Session): Reply {
  return htmlReply(status, noticePage('We could not continue', message), authorizeCookies(service, session))
}

export function loginPageReply(
  service: Service,
  session: Session,
  { status = 200, message, identity }: { status?: number; message?: string; identity?: string | undefined } = {},
): Reply {
  const body = loginPage({
    action: formAction(session),
    hidden: session.hidden,
    cancelName: session.names.cancel,
    identity,
    message,
    messageInScript: service.settings.errorTexts === 'script',
    captcha: session.captcha,
    inTemplate: service.settings.hiddenInputs.inTemplate,
  })
  return htmlReply(status, body, authorizeCookies(service, session))
}

export function passcodePageReply(service: Service, session: Session, { csrf }: PendingPasscode): Reply {
  const { transactionId } = session
  const body = passcodePage({ action: formAction(session), csrf, transactionId, ...service.settings.passcodePage })
  return htmlReply(200, body, authorizeCookies(service, session))
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
  return `${AUTHORIZE_PATH}?${query.toString()}`
}
