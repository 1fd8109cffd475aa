// Forward a caller's request to the owner API, with the owner's token.
export { ownerApiProxy, type OwnerApiProxy } from './proxy/owner-api-proxy.ts'
export type { OwnerApiProxyOptions } from './proxy/options.ts'
export {
  bearer,
  type BearerMiddleware,
  type BearerOptions,
  ownerApiBearer,
  type OwnerApiBearerOptions,
  type OwnerSso,
} from './bearer.ts'

// Call the owner API from code of one's own.
export { attachBearer, type AttachBearerOptions, type AxiosLike } from './calls/axios.ts'
export { ownerFetch, type OwnerFetchOptions } from './calls/fetch.ts'
export { OwnerApiClosedError } from './closed-endpoint.ts'
export { OwnerApiTokenRefusedError } from './refused-token.ts'
export type { OwnerCallOptions } from './calls/options.ts'

// Answer what went wrong.
export { ssoErrorHandler, type ErrorMiddleware, type SsoErrorHandlerOptions } from './error-handler.ts'
export type { Problem } from './answers/problem.ts'
export type { ProblemListener } from './answers/problem-report.ts'
export type { OwnerApiErrorCode } from './answers/owner-api-error.ts'
export type { AccountSource } from './account-source.ts'
