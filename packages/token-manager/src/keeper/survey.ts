/**
 * The survey: one look at each account of the store, sixteen side by side. What it keeps of a hundred thousand accounts is
 * those that need a refresh soonest, so that its memory does not grow with the store.
 */
import { listOf } from '../store/account-list.ts'
import { isOfOneRecord, accountRecord } from '../store/read-record.ts'
import type { Context } from '../kernel/context.ts'
import { checkedAccountName } from '../manager/options.ts'
import type { AccountRecord } from '../store/token-record.ts'
import type { KeeperSettings } from './keeper-options.ts'
import { jwtExpiry } from '../issuer/jwt-expiry.ts'
import { type Need, needOf } from './need.ts'

/** Records that are read side by side. */
const together = 16
/** Accounts that a sweep knows by name, at the most. The others are the next sweep's, which follows at once. */
const mostKnown = 10_000

/** What is told while the accounts are looked at. */
export interface Sightings {
  /** An account that is signed in, and its need where it is due. */
  readonly signedIn: (need: Need | undefined) => void
  readonly signInAgain: (
    account: string,
    record: Extract<AccountRecord, { state: 'reauthentication-required' }>,
  ) => void
  readonly unreadable: () => void
}

/**
 * Those that are due, the soonest first.
 *
 * @param goesOn - asked now and then; false ends the survey
 * @throws StoreError where the store fails
 */
export async function survey(
  { store, runtime }: Pick<Context, 'store' | 'runtime'>,
  settings: KeeperSettings,
  sightings: Sightings,
  goesOn: () => Promise<boolean>,
): Promise<readonly Need[]> {
  const expiryOf = await jwtExpiry()
  let soonest: Need[] = []
  const keepSoonest = (most: number): void => {
    soonest = soonest.toSorted((one, other) => one.end - other.end).slice(0, most)
  }

  const look = async (account: string): Promise<void> => {
    const record = accountRecord(await (store.beneath ?? store).read(checkedAccountName(account)))?.record
    if (record?.state === 'reauthentication-required') sightings.signInAgain(account, record)
    if (record?.state !== 'signed-in') return
    const need = needOf(account, record, settings, expiryOf, runtime.wallClock())
    sightings.signedIn(need)
    if (need !== undefined) soonest.push(need)
  }
  const lookUnlessUnreadable = async (account: string): Promise<void> => {
    try {
      await look(account)
    } catch (error) {
      // A name that can't be one, or a damaged record: it keeps nobody else from being looked at.
      if (!(error instanceof TypeError) && !isOfOneRecord(error)) throw error
      sightings.unreadable()
    }
  }

  for await (const accounts of inGroups(namesIn(store, sightings.unreadable))) {
    if (!(await goesOn())) return []
    await Promise.all(accounts.map(lookUnlessUnreadable))
    if (soonest.length >= 2 * mostKnown) keepSoonest(mostKnown)
  }
  keepSoonest(mostKnown)
  return soonest
}

/** All names that can be told: a store tells of a record that it can't read after all others. */
async function* namesIn(store: Context['store'], unreadable: () => void): AsyncGenerator<string> {
  try {
    yield* listOf(store)
  } catch (error) {
    if (!isOfOneRecord(error)) throw error
    unreadable()
  }
}

async function* inGroups(names: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  let group: string[] = []
  for await (const name of names) {
    group.push(name)
    if (group.length < together) continue
    yield group
    group = []
  }
  yield group
}
