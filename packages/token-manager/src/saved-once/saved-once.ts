/**
 * The index of refresh tokens: under which account each was saved, so that none is saved under two. An account's own record
 * can't tell: its `lineage` is a hash under the account's name.
 *
 * Only sign-ins are in it. What a refresh brings is known to the store alone, and keeping it up would cost each refresh two
 * more round trips. It stands in a fixed number of records, because a store can't delete, and the oldest sign-ins make room.
 */
import { createHash } from 'node:crypto'
import { DuplicateTokenSetError, StoreError } from '../errors.ts'
import type { AccountRecord, RefreshTokensRecord } from '../store/token-record.ts'
import { sessionOf, reasonAgainst } from '../store/lineage.ts'
import { untilSwapped, type GuardedStore } from '../store/guarded-store.ts'
import { isDamaged, readRecord } from '../store/read-record.ts'
import type { Runtime } from '../support/runtime.ts'
import { readOwnRecord, refreshTokensRecordName } from '../store/own-record.ts'

/** Some 65,000 sign-ins are remembered. */
const records = 1024
const savedInEach = 64

export interface Index {
  readonly store: Pick<GuardedStore, 'read' | 'swap'>
  readonly runtime: Pick<Runtime, 'uniqueId' | 'after' | 'keepAlive'>
  readonly notIndexed: (account: string, error: StoreError) => void
}

const unindexed: RefreshTokensRecord = { schema: 1, state: 'refresh-tokens', saved: {} }

/**
 * Notes that this sign-in will hold the refresh token. Two that are saved at the very same moment may both pass.
 *
 * @param session - the name of the sign-in
 * @throws DuplicateTokenSetError where it was saved under another account, and that sign-in is not over;
 *   ReauthenticationRequiredError where it is over, and the refresh token was spent in it
 */
export async function claimRefreshToken(
  account: string,
  refreshToken: string,
  session: string,
  index: Index,
): Promise<void> {
  try {
    await claim(account, refreshToken, session, index)
  } catch (error) {
    // The index only helps: a damaged one keeps nobody from signing in. A store that is down would not take the sign-in either.
    const isBusy = error instanceof StoreError && error.reason === 'busy'
    if (!isBusy && !isDamaged(error)) throw error
    index.notIndexed(account, error)
  }
}

async function claim(account: string, refreshToken: string, session: string, { store, runtime }: Index): Promise<void> {
  const digest = createHash('sha256').update('owner-sso refresh token ').update(refreshToken).digest()
  const name = refreshTokensRecordName(digest.readUInt16BE(0) % records)
  const key = digest.toString('base64url')
  await untilSwapped(runtime, async () => {
    const stored = await readOwnRecord(name, unindexed, { store, runtime })
    const saved = new Map(Object.entries(stored?.record.saved ?? {}))
    const [first, sessionOfFirst] = saved.get(key) ?? []
    if (first !== undefined && first !== account) {
      const record = (await readRecord(first, { store }))?.record
      if (isOf(record, sessionOfFirst)) throw new DuplicateTokenSetError(first)
      const reason = reasonAgainst(record, first, refreshToken)
      if (reason !== undefined) throw reason
    }
    saved.delete(key)
    saved.set(key, [account, session])
    const next: RefreshTokensRecord = {
      schema: 1,
      state: 'refresh-tokens',
      saved: Object.fromEntries([...saved].slice(-savedInEach)),
    }
    const swapped = await store.swap(name, stored, next, runtime.uniqueId(), { forgetOlder: true })
    return 'conflict' in swapped ? undefined : true
  })
}

/** Whether the account still is in that sign-in: neither signed out, nor signed in again with another refresh token. */
function isOf(record: AccountRecord | undefined, session: string | undefined): boolean {
  return record !== undefined && record.state !== 'signed-out' && sessionOf(record) === session
}
