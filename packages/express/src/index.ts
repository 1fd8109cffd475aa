// Forward a caller's request to the owner API, with the owner's token.
export { ownerApiProxy, type OwnerApiProxy } from './proxy/owner-api-proxy.ts'
export type { OwnerApiProxyOptions } from './proxy/options.ts'
export { ownerApiBearer, type BearerMiddleware, type BearerOptions } from './bearer.ts'
export type { OwnerSso } from './request-property.ts'

// Call the owner API from code of one's own.
export { attachBearer, type AxiosLike } from './calls/axios.ts'
export { ownerFetch, type OwnerFetchOptions } from './calls/fetch.ts'
export { OwnerApiClosedError } from './closed-endpoint.ts'
export { OwnerApiTokenRefusedError } from './refused-token.ts'
export type { OwnerCallOptions } from './calls/options.ts'

// Answer what went wrong.
export { ssoErrorHandler, type ErrorMiddleware, type SsoErrorHandlerOptions } from './error-handler.ts'
export type { Answer, Problem } from './answers/problem.ts'
export type { ProblemListener } from './answers/problem-report.ts'
export type { OwnerApiErrorCode } from './answers/owner-api-error.ts'
export type { AccountSource } from './account-source.ts'

// What packages of ours share.
export { ownerApiErrors } from './answers/owner-api-error.ts'
export { problemAnswer, rawAnswer, sendAnswer } from './answers/problem.ts'
export { ssoErrorAnswer } from './answers/sso-error.ts'
export { reported } from './answers/problem-report.ts'
export { warnOfFault } from './handler-fault.ts'
export { isBelow, isPlainQuery, isUnambiguous, originForm } from './proxy/request-path.ts'
export { hasPlainFraming } from './proxy/admission.ts'
export { closeWithConnection } from './proxy/queued-response.ts'
export { asksForUpgrade } from './proxy/upgrade.ts'
export { endAfterAnswer, isSpent } from './proxy/spent-connection.ts'
