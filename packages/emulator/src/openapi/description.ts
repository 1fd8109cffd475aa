/**
 * The OpenAPI 3.1 description of the service's endpoints, as they answer with the settings of this moment.
 */
import { isLenient } from '../service/strictness.ts'
import { authorizePath } from './authorize-path.ts'
import { headers, parameters } from './components.ts'
import { mfaPaths } from './mfa-paths.ts'
import { mfaSchemas } from './mfa-schemas.ts'
import { pageSchemas } from './page-schemas.ts'
import type { Described, Part } from './part.ts'
import { tokenPath } from './token-path.ts'
import { tokenSchemas } from './token-schemas.ts'

export function openapiDescription(service: Described): Part {
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
    paths: { ...authorizePath(service), ...tokenPath(service), ...mfaPaths },
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
