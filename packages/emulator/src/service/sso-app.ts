/**
 * The SSO service's table of endpoints, in the interface document's order.
 */
import type { IncomingMessage } from 'node:http'
import express, { Router, type Express, type RequestHandler } from 'express'
import { respond } from '../answers/respond.ts'
import type { Endpoint } from '../faults/fault.ts'
import type { Faults } from '../faults/faults.ts'
import { challengeResponse } from '../pages/challenge-page.ts'
import { formSubmissionEndpoint } from './form-submission-endpoint.ts'
import { authorizeEndpointPath } from '../state/authorization-request.ts'
import { captchaEndpoint, loginPageEndpoint } from './login-page-endpoint.ts'
import { backupCodeEndpoint, factorsEndpoint, verifyEndpoint } from './mfa-endpoints.ts'
import type { Region } from '../options/account-options.ts'
import type { Journal } from '../journal/journal.ts'
import { callbackPage, startPage } from '../pages/page.ts'
import { guard } from '../answers/guard.ts'
import { htmlResponse, sendResponse, withReason, type ServiceResponse } from '../http/service-response.ts'
import type { ServiceState } from '../state/service-state.ts'
import { readServiceRequest, type ServiceRequest } from '../http/service-request.ts'
import { isLenient, withoutLocale } from '../state/strictness.ts'
import { tokenEndpoint, tokenFields } from './token-endpoint.ts'
import { bareApp, finishApp, notFound } from '../answers/web-app.ts'

const bodyLimit = '64kb'
const tokenPath = '/oauth2/v3/token'

type EndpointFunction = (service: ServiceState, request: ServiceRequest) => ServiceResponse | Promise<ServiceResponse>

export function createSsoApp(
  service: ServiceState,
  faults: Faults,
  journal: Journal,
  control: Router | undefined,
): Express {
  const place = (request: IncomingMessage): Region => service.instances.of(request).region
  const app = bareApp(service.settings, journal, place, control && ownPages(service, control))
  app.use((request, _response, next) => {
    request.url = withoutLocale(service.settings, request.url)
    next()
  })
  app.use((request, response, next) => {
    const what = request.path === tokenPath ? 'token endpoint' : 'rest'
    if (service.instances.serves(what, request)) next()
    else notFound(response)
  })
  app.use(express.text({ type: () => true, limit: bodyLimit, inflate: false }))

  const at = (name: Endpoint | ((request: ServiceRequest) => Endpoint), endpoint: EndpointFunction): RequestHandler => {
    return async (request, response) => {
      const body = typeof request.body === 'string' ? request.body : ''
      const asked = readServiceRequest(request, service.instances.of(request), body)
      const recording = journal.recordingOf(request)
      const endpointName = typeof name === 'string' ? name : name(asked)
      const fault = faults.take(endpointName)
      recording.asked(endpointName, body, fault)
      await respond(response, fault, recording, () => {
        const reason = service.firewall.blocks(asked)
        if (reason === undefined) return endpoint(service, asked)
        service.counters.challenges += 1
        recording.challenged()
        return withReason(`challenged by the firewall: ${reason}`, challengeResponse())
      })
    }
  }

  app.get(authorizeEndpointPath, at('login-page', loginPageEndpoint))
  app.post(authorizeEndpointPath, at('form-submission', formSubmissionEndpoint))
  app.get(
    '/captcha',
    (_request, _response, next) => next(isLenient(service.settings) ? undefined : 'route'),
    at('captcha', captchaEndpoint),
  )
  app.post(
    tokenPath,
    at((request) => tokenEndpointName(service, request), tokenEndpoint),
  )
  // The document gives the MFA paths without their prefix; recordings have the one of the authorize endpoint.
  for (const prefix of [authorizeEndpointPath, '/authorize']) {
    app.get(`${prefix}/mfa/factors`, at('mfa-factors', factorsEndpoint))
    app.post(`${prefix}/mfa/verify`, at('mfa-verify', verifyEndpoint))
    app.post(`${prefix}/mfa/backupcodes/attempt`, at('mfa-backup-code', backupCodeEndpoint))
  }
  app.get('/void/callback', (_request, response) => sendResponse(response, htmlResponse(404, callbackPage)))
  return finishApp(app)
}

/** What a person opens: the start page, and all of `/_emulator`. */
function ownPages(service: ServiceState, control: Router): Router {
  const router = Router()
  router.get('/', guard, (_request, response) =>
    sendResponse(response, htmlResponse(200, startPage(service.accounts.all, service.ownerApiUrl))),
  )
  router.use('/_emulator', control)
  return router
}

function tokenEndpointName(service: ServiceState, request: ServiceRequest): Endpoint {
  return tokenFields(service, request)?.get('grant_type') === 'refresh_token' ? 'refresh' : 'token'
}
