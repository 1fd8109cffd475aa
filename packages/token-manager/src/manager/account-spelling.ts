/**
 * Under which name an account is kept: an e-mail without surrounding spaces and with A–Z in lower case, so that one person is one
 * account however they spell it.
 *
 * Only A–Z: full Unicode lower-casing folds other letters into ASCII (the Kelvin sign becomes `k`), and a look-alike registered
 * with the service would be handed somebody else's account here. Only e-mails: of other names nobody knows whether capitals count.
 */
import type { GuardedStore } from '../store/guarded-store.ts'
import type { AccountMemory } from '../kernel/account-memory.ts'
import { readRecord } from '../store/read-record.ts'
import type { AccountRecord } from '../store/token-record.ts'
import { recentEntries } from '../support/recent-entries.ts'

export const spelledAlike = (email: string): string =>
  email.trim().replaceAll(/[A-Z]/gu, (letter) => letter.toLowerCase())

const spelled = (account: string): string => (/^[^@:]+@[^@:]+$/u.test(account) ? spelledAlike(account) : account)

const isHeld = (record: AccountRecord | undefined): boolean => record !== undefined && record.state !== 'signed-out'

/** Spellings that this process remembers to be nobody's name. */
const remembered = 1000

export interface AccountSpelling {
  /** Makes a call with the name: at once, unless the store has to be asked for it. @throws StoreError */
  readonly named: <Answer>(account: string, call: (name: string) => Promise<Answer>) => Promise<Answer>
  /** The same without a look at the store: by what is known here. */
  readonly knownNameOf: (account: string) => string
}

/**
 * Who was once saved under another spelling is found under that one, and that one alone: each name that a store lists leads to its
 * own record.
 */
export function accountSpelling(store: GuardedStore, memory: AccountMemory): AccountSpelling {
  const nobodys = recentEntries<true>(remembered)
  const knownNameOf = (account: string): string =>
    isHeld(memory.peek(account)?.knowledge.record) ? account : spelled(account)
  const nameOf = async (account: string): Promise<string> => {
    if (isHeld((await readRecord(account, { store }))?.record)) return account
    nobodys.set(account, true)
    return spelled(account)
  }
  return {
    knownNameOf,
    named(account, call) {
      const name = knownNameOf(account)
      return name === account || nobodys.has(account) ? call(name) : nameOf(account).then(call)
    },
  }
}
