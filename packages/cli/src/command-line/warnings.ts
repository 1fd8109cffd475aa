/**
 * Node's warnings, as far as the person at the terminal has anything to do with them.
 */
import { printNote } from '../terminal/output.ts'

/** That the default store is not encrypted is said by `owner-sso doctor` and the guide, not by every call. */
const known = new Set(['OWNER_SSO_UNSEALED'])

export function showOtherWarnings(): void {
  process.removeAllListeners('warning')
  process.on('warning', (warning) => {
    const code = 'code' in warning ? String(warning.code) : ''
    if (!known.has(code)) printNote(`owner-sso: ${warning.name}: ${warning.message}`)
  })
}
