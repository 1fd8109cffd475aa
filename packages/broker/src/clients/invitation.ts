/**
 * Whether an invitation makes sense.
 */
import { checkOptionNames } from '@owner-sso/core'
import type { Invitation, KeptClient } from './client.ts'
import { accountNames, isCallsPerMinute, isScope } from './client-list.ts'

/** @throws TypeError that names what is wrong */
export function checkedInvitation(invitation: Invitation): Omit<KeptClient, 'keys' | 'invited_at'> {
  checkOptionNames('invite', invitation, { name: true, accounts: true, scope: true, expiresAt: true, limits: true })
  const { name, scope = ['token'], expiresAt, limits } = invitation
  if (
    typeof name !== 'string' ||
    !/^[\p{L}\p{N}._@-][\p{L}\p{N}._@ -]{0,62}[\p{L}\p{N}._@-]$|^[\p{L}\p{N}]$/u.test(name)
  ) {
    throw new TypeError('name must be 1 to 64 letters, digits, spaces and . _ - @')
  }
  const accounts = accountNames(invitation.accounts)
  if (accounts === undefined) throw new TypeError('accounts must be a list of account names')
  if (!isScope(scope)) throw new TypeError('scope must be a list of token and proxy')
  if (expiresAt !== undefined && !(Number.isFinite(expiresAt) && expiresAt > Date.now() / 1000)) {
    throw new TypeError('expiresAt must be a time to come, in seconds since the epoch')
  }
  checkOptionNames('limits', limits ?? {}, { callsPerMinute: true })
  const callsPerMinute = limits?.callsPerMinute
  if (callsPerMinute !== undefined && !isCallsPerMinute(callsPerMinute)) {
    throw new TypeError('limits.callsPerMinute must be a whole number above 0')
  }
  return {
    name,
    accounts,
    scope: [...new Set(scope)],
    ...(expiresAt !== undefined && { expires_at: Math.floor(expiresAt) }),
    ...(callsPerMinute !== undefined && { limits: { callsPerMinute } }),
  }
}
