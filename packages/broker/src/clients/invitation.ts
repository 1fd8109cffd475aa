/**
 * Whether an invitation makes sense.
 */
import { checkOptionNames } from '@owner-sso/core'
import { requireOption } from '../given/given.ts'
import type { Invitation, KeptClient } from './client.ts'
import { checkedName } from './client-name.ts'
import { accountNames, isCallsPerMinute, isScope } from './client-list.ts'

/** Seconds since the epoch: what is later was meant in milliseconds. */
const latest = 100_000_000_000

/** @throws TypeError that names what is wrong */
export function checkedInvitation(invitation: Invitation): Omit<KeptClient, 'keys' | 'invited_at'> {
  checkOptionNames('invite', invitation, { name: true, accounts: true, scope: true, expiresAt: true, limits: true })
  const { scope = ['token'], expiresAt, limits = {} } = invitation
  const name = checkedName(invitation.name)
  const accounts = accountNames(invitation.accounts)
  requireOption(accounts !== undefined, 'accounts must be a list of account names', invitation.accounts)
  // It would look like the account that was meant, and be another one.
  const unseen = accounts.find((account) => /[\p{Default_Ignorable_Code_Point}\p{Cc}]/u.test(account))
  requireOption(unseen === undefined, 'accounts must be without characters that nobody sees', unseen)
  requireOption(isScope(scope), 'scope must be a list of token and proxy', scope)
  if (expiresAt !== undefined) {
    const isToCome = Number.isFinite(expiresAt) && expiresAt > Date.now() / 1000 && expiresAt < latest
    requireOption(isToCome, 'expiresAt must be a time to come, in seconds since the epoch', expiresAt)
  }
  checkOptionNames('limits', limits, { callsPerMinute: true })
  const { callsPerMinute } = limits
  const isLimit = callsPerMinute === undefined || isCallsPerMinute(callsPerMinute)
  requireOption(isLimit, 'limits.callsPerMinute must be a whole number above 0', callsPerMinute)
  return {
    name,
    accounts,
    scope: [...new Set(scope)],
    ...(expiresAt !== undefined && { expires_at: Math.floor(expiresAt) }),
    ...(callsPerMinute !== undefined && { limits: { callsPerMinute } }),
  }
}
