/**
 * What owner-sso's own packages and examples share beneath the public names. Not for applications: it may change with any release.
 */

// Let a request in, and a server end.
export { drainOf } from './door/drain.ts'
export { asksForUpgrade, hasPlainFraming, letIn, rejecter } from './door/entry.ts'
export { isCrossSite } from './proxy/admission.ts'
export { isBelow, isPlainQuery, isUnambiguous, originForm } from './proxy/request-path.ts'

// Answer it.
export { ownerApiErrors } from './answers/owner-api-error.ts'
export { type Answer, problemAnswer, sendAnswer } from './answers/problem.ts'
export { reported, warnOfFault } from './answers/problem-report.ts'
export { ssoErrorAnswer } from './answers/sso-error.ts'
