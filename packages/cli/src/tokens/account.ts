/**
 * Whose tokens a call is about.
 */
import { accountName, checkedAccountName, SignedOutError, type TokenManager } from '@owner-sso/core'
import { CommandError, exitCodes, usageError } from '../failure/command-error.ts'
import { orTell } from '../settings/secrets.ts'
import type { Settings } from '../settings/settings.ts'

/** The name of an account, from what a person typed. @throws CommandError for what can be none */
export function namedAccount(typed: string): string {
  return orTell('Name the account by its e-mail.', () => checkedAccountName(accountName(typed)))
}

/**
 * The account that was named, else the only one of the store.
 *
 * @throws CommandError where nobody is signed in, or several are and none is named
 */
export async function chosenAccount({ account }: Settings, tokens: TokenManager): Promise<string> {
  if (account !== undefined) return namedAccount(account.value)
  const { names, failure } = await accountNames(tokens)
  const [only, ...others] = names
  if (failure !== undefined && others.length === 0) throw failure
  if (only === undefined) {
    throw new CommandError(exitCodes.signInAgain, 'Nobody is signed in here.', 'Sign in with: owner-sso login')
  }
  if (others.length === 0) return only
  throw usageError(
    `Several accounts are signed in here: ${[only, ...others].join(', ')}.`,
    'Say which one with --account, or set OWNER_SSO_ACCOUNT.',
  )
}

/**
 * Runs what needs a signed-in account.
 *
 * @throws CommandError that names the account, and those that are signed in, where it is not
 */
export async function requireSignedIn<Result>(
  account: string,
  tokens: TokenManager,
  use: () => Promise<Result>,
): Promise<Result> {
  try {
    return await use()
  } catch (error) {
    if (!(error instanceof SignedOutError)) throw error
    const { names: others } = await accountNames(tokens)
    const here = others.length > 0 ? `Signed in: ${others.join(', ')}. ` : ''
    const next = `${here}Sign in with: owner-sso login --account ${account}`
    throw new CommandError(exitCodes.signInAgain, `${account} is not signed in here.`, next, error.code)
  }
}

/** All accounts of the store that are not signed out and can be read, by name, and why the others can't. */
export async function accountNames(
  tokens: Pick<TokenManager, 'accounts'>,
): Promise<{ readonly names: string[]; readonly failure: unknown }> {
  const names: string[] = []
  let failure: unknown
  try {
    for await (const name of tokens.accounts()) names.push(name)
  } catch (error) {
    failure = error
  }
  return { names: names.toSorted((a, b) => a.localeCompare(b)), failure }
}
