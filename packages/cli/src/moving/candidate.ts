/**
 * What becomes of a token set that was found: an account with its refresh token, or an error that says why it can't be taken over.
 */
import { accountName, type RefreshTokenGrant, type Sso } from '@owner-sso/core'
import { CommandError, exitCodes, usageError } from '../failure/command-error.ts'
import { localTime } from '../terminal/wording.ts'
import { type FoundTokens, isAccountName } from './found-tokens.ts'

export interface Candidate {
  readonly account: string
  readonly grant: RefreshTokenGrant & { readonly auth_url: string }
  readonly issuedAt: number | undefined
}

/**
 * @param named - the account that the person named
 * @throws CommandError for tokens that can't be taken over; RegionNotAllowedError
 */
export async function candidateOf(
  found: FoundTokens,
  named: string | undefined,
  sso: Pick<Sso, 'authUrl' | 'allowedAuthUrl'>,
): Promise<Candidate> {
  const now = Date.now() / 1000
  const account = accountOf(found, named)
  const { refreshToken: refresh_token, accessToken: access_token, accessEndsAt: expires_at, endsAt, history } = found
  if (endsAt !== undefined && endsAt <= now) {
    throw new CommandError(
      exitCodes.signInAgain,
      `The refresh token of ${account} ended at ${localTime(endsAt)}.`,
      `Sign in instead: owner-sso login --account ${account}`,
    )
  }
  const auth_url = await sso.allowedAuthUrl(found.authUrl ?? sso.authUrl)
  // The access token beside it, while it lives: a refresh may bring one that the owner API refuses.
  const lives = access_token !== undefined && expires_at !== undefined && expires_at > now
  const grant = { refresh_token, ...(lives && { access_token, expires_at }), auth_url, history }
  return { account, grant, issuedAt: found.issuedAt }
}

/** Who they are for: as the person says, else as the input says. Neither may contradict what the tokens say. */
function accountOf({ account: written, owner }: FoundTokens, named: string | undefined): string {
  const name = named ?? written ?? owner
  if (name === undefined) {
    throw usageError('The input does not say whose tokens these are.', 'Name the account: --account E-MAIL.')
  }
  const account = nameOf(name)
  for (const other of [written, owner]) {
    if (other === undefined || !contradicts(other, account)) continue
    throw usageError(`The tokens for ${account} belong to ${other}.`, `Import them for their owner, or leave them out.`)
  }
  return account
}

/** Two e-mails that differ, or two subjects; an e-mail and a subject may be one person. */
function contradicts(other: string, account: string): boolean {
  if (!isAccountName(other) || !isAccountName(account)) return false
  const name = nameOf(other)
  return name.startsWith('sub:') === account.startsWith('sub:') && name !== account
}

export function nameOf(name: string): string {
  try {
    return accountName(name)
  } catch {
    throw usageError(`${name} can’t be the name of an account.`, 'Name the account: --account E-MAIL.')
  }
}
