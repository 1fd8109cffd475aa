/**
 * What owner-sso's own packages and examples share beneath the public names. Not for applications: it may change with any release.
 */

// Let a request in.
export { hasPlainFraming, namesTwoHosts } from './proxy/admission.ts'
export { closeWithConnection } from './proxy/queued-response.ts'
export { isBelow, isPlainQuery, isUnambiguous, originForm } from './proxy/request-path.ts'
export { endAfterAnswer, isSpent } from './proxy/spent-connection.ts'
export { asksForUpgrade } from './proxy/upgrade.ts'

// Answer it.
export { ownerApiErrors } from './answers/owner-api-error.ts'
export { type Answer, problemAnswer, rawAnswer, sendAnswer } from './answers/problem.ts'
export { reported } from './answers/problem-report.ts'
export { ssoErrorAnswer } from './answers/sso-error.ts'
export { warnOfFault } from './handler-fault.ts'
