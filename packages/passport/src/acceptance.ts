/**
 * The end of every accepted sign-in: verify, the tokens saved, then success.
 */
import type { TokenSet } from '@owner-sso/core'
import type { Request } from 'express'
import type { StrategySettings } from './options.ts'
import type { Outcome } from './outcomes.ts'
import type { OwnerSsoUser } from './owner.ts'

/**
 * Asks verify first, so that nothing is kept of somebody who isn't welcome, and saves the tokens before success, so that
 * a signed-in person always has them.
 */
export async function accept(
  { verdict, tokens: manager }: Pick<StrategySettings, 'verdict' | 'tokens'>,
  request: Request,
  owner: OwnerSsoUser,
  tokens: TokenSet,
): Promise<Outcome> {
  const { user, info } = await verdict(request, owner, tokens)
  if (user === false) return { kind: 'fail', info, status: 401 }
  await manager.save(owner.account, tokens)
  return { kind: 'success', user, info }
}
