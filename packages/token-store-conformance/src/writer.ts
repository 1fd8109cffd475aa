/**
 * The writer that dies: what the process runs that a `crash` option starts and kills.
 */
import type { TokenRecord, TokenStore } from '@owner-sso/token-manager'
import { applied, record } from './records.ts'

/** The record that the writer stores as this version: a few kilobytes, so that a torn one shows. */
export function written(version: number): TokenRecord {
  return record({ version, filling: `${version};`.repeat(1024) })
}

/**
 * Writes version after version of an account until the process is killed.
 *
 * @param acknowledge - told each version once `swap` has answered; pass it on to the killer in a way that survives the
 *   kill, such as a synchronous write to a pipe.
 */
export async function writeUntilKilled(
  store: TokenStore,
  account: string,
  acknowledge: (version: number) => void,
): Promise<never> {
  let version = (await store.read(account))?.version ?? 0
  for (;;) {
    version = (await applied(store, account, version, written(version + 1))).version
    acknowledge(version)
  }
}
