/**
 * What becomes of a token set that was found: an account with its refresh token, or a sentence why it can't be taken over.
 */
import { accountName, type RefreshTokenGrant, RegionNotAllowedError, type Sso } from '@owner-sso/core'
import { CommandError, exitCodes, usageError } from '../failure/command-error.ts'
import { localTime } from '../terminal/local-time.ts'
import { type FoundTokens, isAccountName } from './found-tokens.ts'

export interface Candidate {
  readonly account: string
  readonly grant: RefreshTokenGrant & { readonly auth_url: string }
  readonly issuedAt: number | undefined
  /** `sub:` and the subject that the tokens tell, where they tell no e-mail. */
  readonly subject: string | undefined
}

/**
 * @param named - the account that the person named
 * @throws CommandError for tokens that can't be taken over
 */
export async function candidateOf(
  found: FoundTokens,
  named: string | undefined,
  sso: Pick<Sso, 'authUrl' | 'allowedAuthUrl'>,
  now: number,
): Promise<Candidate> {
  const account = accountOf(found, named)
  if (found.endsAt !== undefined && found.endsAt <= now) {
    throw new CommandError(
      exitCodes.signInAgain,
      `The refresh token of ${account} ended at ${localTime(found.endsAt)}.`,
      `Sign in instead: owner-sso login --account ${account}`,
    )
  }
  const auth_url = await instanceOf(found, account, sso)
  const subject = found.owner?.startsWith('sub:') === true ? found.owner : undefined
  const { refreshToken: refresh_token, history } = found
  const grant = { refresh_token, ...livingAccessToken(found, now), auth_url, history }
  return { account, grant, issuedAt: found.issuedAt, subject }
}

/** The access token beside it, while it lives: a refresh may bring one that the owner API refuses. */
function livingAccessToken(
  { accessToken: access_token, accessEndsAt: expires_at }: FoundTokens,
  now: number,
): Pick<RefreshTokenGrant, 'access_token' | 'expires_at'> {
  return access_token !== undefined && expires_at !== undefined && expires_at > now ? { access_token, expires_at } : {}
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

/** The name of the account. @throws CommandError for a name of none */
export function nameOf(name: string): string {
  try {
    return accountName(name)
  } catch {
    throw usageError(`${name} can’t be the name of an account.`, 'Name the account: --account E-MAIL.')
  }
}

async function instanceOf(
  { authUrl }: FoundTokens,
  account: string,
  sso: Pick<Sso, 'authUrl' | 'allowedAuthUrl'>,
): Promise<string> {
  try {
    return await sso.allowedAuthUrl(authUrl ?? sso.authUrl)
  } catch (error) {
    if (!(error instanceof RegionNotAllowedError)) throw error
    const origin = error.origin ?? 'an address that can’t be read'
    throw usageError(
      `The tokens of ${account} are of ${origin}, which is not allowed.`,
      `If it is genuine, allow it: --regional-auth-url ${error.origin ?? 'https://…'}, or OWNER_SSO_REGIONAL_AUTH_URLS.`,
    )
  }
}
