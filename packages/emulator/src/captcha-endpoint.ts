/**
 * GET /captcha, as recorded: the picture for the session whose page shows a captcha.
 */
import { refusal } from './authorize-answers.ts'
import { captchaPicture } from './captcha.ts'
import { because, type Reply } from './reply.ts'
import type { Service } from './service.ts'
import type { ServiceRequest } from './service-request.ts'
import { sessionCookie } from './sessions.ts'

export function captchaEndpoint(service: Service, { cookies, instance }: ServiceRequest): Reply {
  const session = service.sessions.find(cookies.get(sessionCookie), instance)
  if (!session) return refusal(service, 403, 'Your session is unknown or has expired. Open the login page again.')
  if (session.captcha === undefined) return refusal(service, 404, 'Your page shows no captcha.', session)
  const picture = captchaPicture(session.captcha).markup
  return because('the captcha of the page', {
    status: 200,
    headers: { 'content-type': 'image/svg+xml' },
    body: picture,
  })
}
