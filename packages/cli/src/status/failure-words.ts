/**
 * Why a refresh failed, in a few words: what the store remembers of it is the code alone.
 */
import type { SsoErrorCode } from '@owner-sso/core'

const words: Partial<Record<string, string>> = {
  ERR_SSO_UNREACHABLE: 'the SSO service could not be reached',
  ERR_SSO_TIMEOUT: 'the SSO service did not answer in time',
  ERR_SSO_FIREWALL_CHALLENGE: 'the SSO service’s firewall blocked it',
  ERR_SSO_TOKEN_REJECTED: 'the SSO service called it a wrong request',
  ERR_SSO_UNEXPECTED_RESPONSE: 'the SSO service’s answer could not be understood',
} satisfies Partial<Record<SsoErrorCode, string>>

/** @param code - of this release of core, or of another one */
export function failureInWords(code: string): string {
  return words[code] ?? 'the refresh failed'
}
