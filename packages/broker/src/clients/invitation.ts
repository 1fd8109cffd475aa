/**
 * Whether an invitation makes sense. The name of a client is what people tell their programs apart by. So no two may look alike, and a
 * key that is revoked by its name is the one that was meant.
 */
import { checkOptionNames } from '@owner-sso/core'
import { requireOption } from '../given/given.ts'
import type { Invitation, KeptClient } from './client.ts'
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

const allowed = /^[\p{L}\p{N}._@-][\p{L}\p{N}._@ -]{0,62}[\p{L}\p{N}._@-]$|^[\p{L}\p{N}]$/u
/** Letters that nobody sees, and spaces that a page shows as one. */
const unseenInName = /\p{Default_Ignorable_Code_Point}| {2}/u

/** The name of a new client, with its accents composed. @throws TypeError */
function checkedName(name: unknown): string {
  const composed = typeof name === 'string' ? name.normalize('NFC') : ''
  const isRight = allowed.test(composed) && !unseenInName.test(composed)
  requireOption(isRight, 'name must be 1 to 64 letters, digits, single spaces and . _ - @', name)
  return composed
}

/** Whether two names look the same, or nearly: with accents composed or not, or in letters of another width. */
export function looksLike(one: string, other: string): boolean {
  return one.normalize('NFKC') === other.normalize('NFKC')
}

/** The client that somebody names: the one of that name, or the one whose name is only written otherwise. */
export function namedClient(clients: readonly KeptClient[], name: string): KeptClient | undefined {
  const isSame = (one: KeptClient): boolean => one.name.normalize('NFC') === name.normalize('NFC')
  return clients.find((one) => one.name === name) ?? clients.find(isSame)
}
