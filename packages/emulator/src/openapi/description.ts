/**
 * `GET /_emulator/openapi.json`: the OpenAPI 3.1 description of the service's endpoints, as they answer with the settings of this
 * moment, for whoever generates a client or wants to look.
 */
import { Router } from 'express'
import { jsonResponse, sendResponse } from '../http/service-response.ts'
import { isLenient } from '../service/strictness.ts'
import { loginPaths, pageSchemas } from './login-parts.ts'
import { mfaPaths, mfaSchemas } from './mfa-parts.ts'
import { headers, parameters, type Described, type Part } from './parts.ts'
import { tokenPaths, tokenSchemas } from './token-parts.ts'

export function openapiRouter(service: Described): Router {
  const router = Router()
  router.get('/openapi.json', (_request, response) => sendResponse(response, jsonResponse(200, described(service))))
  return router
}

function described(service: Described): Part {
  const { instances } = service
  return {
    openapi: '3.1.1',
    info: {
      title: 'Single sign-on service',
      version: 'v3',
      description: isLenient(service.settings) ? `${introduction}\n${legacy}` : introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [
      { url: instances.home.url, description: 'The home instance' },
      { url: instances.regional.url, description: 'The instance of the other region' },
    ],
    security: [],
    tags: [
      { name: 'login', description: 'The login page, the submitted form and the exchange of its code' },
      { name: 'second factor', description: 'The passcode of an account with a second factor' },
      { name: 'refresh', description: 'New tokens for a refresh token' },
    ],
    paths: { ...loginPaths(service), ...tokenPaths(service), ...mfaPaths },
    components: {
      headers,
      parameters: parameters(service),
      schemas: { ...pageSchemas(service), ...tokenSchemas(service), ...mfaSchemas(service) },
    },
  }
}

const introduction = `The login of a vehicle owner: an authorization code with PKCE (S256) behind a login page, a passcode
where the account has a second factor, and the refresh of tokens.

What holds for every request: a User-Agent that doesn't name a browser, TLS 1.2 at most, and few calls without a repeat.
A client that breaks this is answered by the firewall: 403 and a page, in place of any answer described here.`

const legacy = `
A locale may stand before each path: \`/en_us/oauth2/v3/authorize\`. Clients that come with TLS 1.3 are served.`
