/**
 * The survey: one look at each account of the store, sixteen side by side. What it keeps of a hundred thousand accounts is
 * those that need a refresh soonest, so that its memory does not grow with the store.
 */
import { type ExpiryOf, jwtExpiry } from '../issuer/jwt-expiry.ts'
import type { Context } from '../kernel/context.ts'
import { expectsRefusal } from '../kernel/freshness.ts'
import { checkedAccountName } from '../manager/options.ts'
import { chunks, listOf } from '../store/account-list.ts'
import { accountRecord, isOfOneRecord } from '../store/read-record.ts'
import type { ReauthenticationRequired, SignedIn } from '../store/token-record.ts'
import type { KeeperSettings, SweepCounts } from './keeper-options.ts'

/** Records that are read side by side. */
const together = 16
/** Accounts that a sweep knows by name, at the most. The others are the next sweep's, which follows at once. */
const mostKnown = 10_000

/** What a sweep has counted so far. */
export type Counts = { -readonly [Name in keyof SweepCounts]: number }

/** Tells of an account whose owner has to sign in again. */
export type Announce = (account: string, record: ReauthenticationRequired) => void

/** An account that is due. */
export interface Need {
  readonly account: string
  /** When its session ends: milliseconds since the epoch. */
  readonly end: number
  /** The instance that refreshes it. */
  readonly authUrl: string
}

/** Milliseconds that the clocks of a fleet may differ by. Tokens from further in the future say nothing of their age. */
const clockSkew = 5 * 60_000

/**
 * Milliseconds that a refresh token lives where nothing better is known: 90 days, as clients of the service report. Counted on only
 * where a refresh costs a working access token.
 */
const reportedLifetime = 90 * 86_400_000

/**
 * The need of an account that is due: when its session ends if nobody calls, as far as anybody can know. It does so within `within`,
 * and its tokens are not so young that new ones would change nothing.
 *
 * @param now - milliseconds since the epoch
 */
export function needOf(
  account: string,
  record: SignedIn,
  { within, refreshTokenLifetime }: Pick<KeeperSettings, 'within' | 'refreshTokenLifetime'>,
  expiryOf: ExpiryOf,
  now: number,
): Need | undefined {
  const { auth_url: authUrl, refresh_token, refresh_token_expires_at: toldEnd } = record.tokens
  const obtained = record.obtained_at * 1000
  const life = record.lifetime * 1000
  // By a clock that was ahead, or ours has gone back: how old they are nobody knows, and new ones end the question.
  if (obtained > now + clockSkew) return { account, end: now + within, authUrl }
  // While the owner API refuses refreshed tokens, a refresh does no good but to keep the refresh token alive.
  const known = refreshTokenLifetime ?? (expectsRefusal(record) ? reportedLifetime : life)
  const issued = record.refusals?.refreshed_at === undefined ? obtained : record.refusals.refreshed_at * 1000
  const told = typeof toldEnd === 'number' ? toldEnd * 1000 : expiryOf(refresh_token)
  // One that is refused ends at once: whoever met that may have left the refresh to others.
  const end = record.refusals?.thisOne === true ? now : (told ?? issued + known)
  if (end - now > within || now - obtained < Math.min(life, within) / 2) return undefined
  return { account, end, authUrl }
}

/** Those that are due, the soonest first. @param goesOn - asked now and then; false ends the survey @throws StoreError */
export async function survey(
  { store, runtime }: Pick<Context, 'store' | 'runtime'>,
  settings: KeeperSettings,
  counts: Counts,
  announce: Announce,
  goesOn: () => Promise<boolean>,
): Promise<readonly Need[]> {
  const expiryOf = await jwtExpiry()
  let soonest: Need[] = []
  const keepSoonest = (): void => {
    soonest = soonest.toSorted((one, other) => one.end - other.end).slice(0, mostKnown)
  }

  const look = async (account: string): Promise<void> => {
    const record = accountRecord(await (store.beneath ?? store).read(checkedAccountName(account)))?.record
    if (record?.state === 'reauthentication-required') {
      counts.signInAgain += 1
      announce(account, record)
    }
    if (record?.state !== 'signed-in') return
    counts.accounts += 1
    const need = needOf(account, record, settings, expiryOf, runtime.wallClock())
    if (need === undefined) return
    counts.due += 1
    soonest.push(need)
  }
  const lookUnlessUnreadable = async (account: string): Promise<void> => {
    try {
      await look(account)
    } catch (error) {
      // A name that can't be one, or a damaged record: it keeps nobody else from being looked at.
      if (!(error instanceof TypeError) && !isOfOneRecord(error)) throw error
      counts.unreadable += 1
    }
  }

  try {
    for await (const accounts of chunks(listOf(store), together)) {
      if (!(await goesOn())) return []
      await Promise.all(accounts.map(lookUnlessUnreadable))
      if (soonest.length >= 2 * mostKnown) keepSoonest()
    }
  } catch (error) {
    // All names that can be told have come: a store tells of a record that it can't read after all others.
    if (!isOfOneRecord(error)) throw error
    counts.unreadable += 1
  }
  keepSoonest()
  return soonest
}
