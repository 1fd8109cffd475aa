/**
 * What is under way or in doubt about an account, since when, and how to mend it.
 */
import { overdueAdvice, refusalAdvice, type TokenManager, type TokenStatus, type TokenStore } from '@owner-sso/core'
import { localTime } from '../terminal/local-time.ts'
import { duration } from '../terminal/wording.ts'
import { type Finding, good, note } from '../terminal/finding.ts'

/** Seconds that a refresh takes at the most: its request's time limit, and what its process may be held up. */
const longestRefresh = 90

export async function checkRefresh(
  account: string,
  tokens: Pick<TokenManager, 'status'>,
  store: TokenStore,
): Promise<Finding[]> {
  const status = await tokens.status(account)
  return [...adviceOn(account, status), ...(await refreshUnderWay(account, status, store))]
}

function adviceOn(account: string, status: TokenStatus): Finding[] {
  const advice = refusalAdvice(status, localTime)
  const overdue = overdueAdvice(status, localTime)
  return [
    ...(advice === undefined ? [] : [note('sign-in', `${account}: ${advice}`, signIn(account))]),
    ...(overdue === undefined ? [] : [note('refresh', `${account}: ${overdue}`, 'Run owner-sso doctor there.')]),
  ]
}

const signIn = (account: string): string => `Run owner-sso login --account ${account}`

async function refreshUnderWay(account: string, status: TokenStatus, store: TokenStore): Promise<Finding[]> {
  const { state, reason, in_doubt_since, next_attempt_at } = status
  if (state === 'reauthentication-required') {
    const why = reason === undefined ? '' : ` (${reason.replaceAll('_', ' ')})`
    return [note('sign-in', `${account} has to sign in again${why}.`, signIn(account))]
  }
  if (state === 'in-doubt' && in_doubt_since !== undefined) {
    const text = `A refresh of ${account} is in doubt for ${since(in_doubt_since)}: it was sent, and its answer was lost.`
    if (next_attempt_at === undefined) return [note('refresh', text, 'The process that refreshes settles it.')]
    const wait = duration(next_attempt_at - Date.now() / 1000)
    const fix = `Its next use after ${wait} settles it. To settle it now: owner-sso refresh --account ${account}`
    return [note('refresh', text, fix)]
  }
  const record = (await store.read(account))?.record
  if (record?.state !== 'signed-in' || record.intent === undefined) return []
  const { at, holder } = record.intent
  const text = `${account} is being refreshed by process ${holder.pid}, for ${since(at)}`
  if (Date.now() / 1000 - at < longestRefresh) return [good('refresh', text)]
  const fix = `Look at that process. Once it has ended, owner-sso refresh --account ${account} goes on.`
  return [note('refresh', `${text}, which is too long.`, fix)]
}

function since(at: number): string {
  return duration(Date.now() / 1000 - at)
}
