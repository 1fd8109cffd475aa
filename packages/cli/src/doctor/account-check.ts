/**
 * What is wrong with an account, and how to mend it.
 */
import { overdueAdvice, refusalAdvice, type TokenManager } from '@owner-sso/core'
import { localTime } from '../terminal/local-time.ts'
import { type Finding, good, note } from '../terminal/finding.ts'
import { likely } from '../terminal/wording.ts'

export async function checkAccount(
  account: string,
  tokens: Pick<TokenManager, 'history' | 'status'>,
): Promise<Finding[]> {
  const status = await tokens.status(account)
  const { why } = await tokens.history(account)
  const advice = refusalAdvice(status, localTime)
  const overdue = overdueAdvice(status, localTime)
  if (overdue !== undefined) return [note('refresh', `${account}: ${overdue}`, 'Run owner-sso doctor there.')]
  const text = `${account}: ${advice ?? likely(why)}`
  if (why.cause === 'signed-in') return []
  if (why.cause === 'refreshing') return [good('tokens', text)]
  const signsIn = advice !== undefined || status.state === 'reauthentication-required'
  const fix = signsIn ? `Run owner-sso login --account ${account}.` : why.to_do
  return [note('tokens', text, `${fix} What that rests on: owner-sso why ${account}`)]
}
