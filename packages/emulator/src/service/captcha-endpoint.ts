/**
 * GET /captcha, as recorded: the picture for the session whose page shows a captcha.
 */
import { refusal } from './authorize-responses.ts'
import { captchaPicture } from '../pages/captcha.ts'
import { withReason, type ServiceResponse } from '../http/service-response.ts'
import type { ServiceState } from '../state/service-state.ts'
import type { ServiceRequest } from '../http/service-request.ts'
import { sessionCookie } from '../state/sessions.ts'

export function captchaEndpoint(service: ServiceState, { cookies, instance }: ServiceRequest): ServiceResponse {
  const session = service.sessions.find(cookies.get(sessionCookie), instance)
  if (!session) return refusal(service, 403, 'Your session is unknown or has expired. Open the login page again.')
  if (session.captcha === undefined) return refusal(service, 404, 'Your page shows no captcha.', session)
  const picture = captchaPicture(session.captcha).markup
  return withReason('the captcha of the page', {
    status: 200,
    headers: { 'content-type': 'image/svg+xml' },
    body: picture,
  })
}
