/**
 * Whether an invitation makes sense.
 */
import { checkOptionNames } from '@owner-sso/core'
import type { Invitation, KeptClient } from './client.ts'
import { checkedName } from './client-name.ts'
import { accountNames, isCallsPerMinute, isScope } from './client-list.ts'

/** @throws TypeError that names what is wrong */
export function checkedInvitation(invitation: Invitation): Omit<KeptClient, 'keys' | 'invited_at'> {
  checkOptionNames('invite', invitation, { name: true, accounts: true, scope: true, expiresAt: true, limits: true })
  const { scope = ['token'], expiresAt, limits } = invitation
  const name = checkedName(invitation.name)
  const accounts = accountNames(invitation.accounts)
  if (accounts === undefined) throw new TypeError('accounts must be a list of account names')
  // It would look like the account that was meant, and be another one.
  if (accounts.some((account) => /[\p{Default_Ignorable_Code_Point}\p{Cc}]/u.test(account))) {
    throw new TypeError('accounts must be without characters that nobody sees: type them instead of pasting them')
  }
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
