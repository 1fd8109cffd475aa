/**
 * What a token store is: two atomic operations over versioned records.
 *
 * A token manager gives each call, and each step of `accounts()`, ten seconds; then it is a `StoreError` (`unavailable`, or
 * `write-failed` for a swap). A swap that was given up may be carried out later.
 *
 * There is no lock in the interface: the intent inside the record is the lock (`docs/internals/refresh-protocol.md`). Any database
 * with a conditional write is a store in thirty lines; `@owner-sso/token-store-conformance` proves one.
 */
import type { TokenRecord } from './token-record.ts'

/** A record as it stands in a store. */
export interface Versioned {
  /** 1 for the first record of an account, one more with each swap. A store that was emptied begins again. */
  readonly version: number
  /**
   * The id that the swap was given which wrote it: it tells this record from any other that ever stood under the same
   * version. From a store that does not tell it, a record is known by its version alone.
   */
  readonly writeId?: string | undefined
  readonly record: TokenRecord
}

/** The result of a swap that did not write: another version, or another write, stands there. Read again. */
export interface Conflict {
  readonly conflict: true
}

/** What a swap is given in addition to the record, for stores that keep more than the newest one. */
export interface SwapOptions {
  /** A sign-in or a sign-out: once this record stands, durably, the store removes all that it kept of earlier ones. */
  readonly forgetOlder?: boolean | undefined
  /**
   * The `writeId` of the record that is expected to stand there, where `read` told it. Another one is a conflict, also
   * under the expected version: the store was emptied meanwhile and filled again, or went back in time.
   */
  readonly expectedWriteId?: string | undefined
}

/** Where token sets live. A store treats a record as a sealed JSON value. */
export interface TokenStore {
  /**
   * The newest record of an account; `undefined` where nothing was ever stored.
   *
   * @throws StoreError where the store can't be read. A record that can't be read is an error, never `undefined`.
   */
  read(account: string): Promise<Versioned | undefined>

  /**
   * Compare-and-swap: writes `next` as version `expected + 1` only if the stored version is still `expected`
   * (0: nothing stored), and of the write `expectedWriteId` where that is given. Durable before it answers.
   *
   * @param writeId - names this write. Repeating one that was applied last succeeds again with the same result, so that a
   *   lost acknowledgement can be asked about.
   * @param options - a store that keeps the newest record alone has nothing to do about `forgetOlder`
   * @throws StoreError where the store can't be written. The write may or may not have been applied: repeat it with the same id.
   */
  swap(
    account: string,
    expected: number,
    next: TokenRecord,
    writeId: string,
    options?: SwapOptions,
  ): Promise<Versioned | Conflict>

  /** The names of all accounts that have a record. One that can't be told is an error, after all that can. */
  accounts?(): AsyncIterable<string>

  /** Calls back when an account's record may have changed. A hint: correctness never depends on it. Returns an unsubscribe function. */
  watch?(account: string, onChange: () => void): () => void
}
