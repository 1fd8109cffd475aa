/**
 * An account's name as the key of a store: SHA-256 in 64 hexadecimal digits, of one length, the same on every file system and under
 * every collation, and telling nothing of the account.
 */
import { createHash } from 'node:crypto'

/** @throws TypeError for a name that is not Unicode: two of them could have one hash */
export function hashOfAccount(account: string): string {
  if (typeof account !== 'string' || /\p{Surrogate}/u.test(account)) {
    throw new TypeError('account must be a string of whole Unicode characters')
  }
  return createHash('sha256').update(account).digest('hex')
}
