/**
 * The room of the status page: lets people see their accounts, sign in again, and let programs in and out. The rest of the
 * broker does not know of it.
 */
export { statusPageCode } from './entrance.ts'
export { type StatusPage, statusPage, type StatusPageOptions } from './status-page.ts'
