/** All that makes requests, loaded at once. */
export { createAuthorizationUrl, exchangeCode } from './authorization.ts'
export { refreshTokens } from './grant.ts'
export { openService } from './service.ts'
