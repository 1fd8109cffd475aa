/**
 * Reading those records of our own that say nothing which can't be said again: how a host is doing, who sweeps, what was
 * counted. One that can't be read is replaced, since nobody else would ever mend it, and every account depends on it.
 */
import { StoreError } from '../errors.ts'
import { checkedRecord } from './record-check.ts'
import type { TokenRecord } from './token-record.ts'
import type { Versioned } from './token-store.ts'
import type { GuardedStore } from './guarded-store.ts'
import { isDamaged } from './read-record.ts'
import type { Runtime } from '../support/runtime.ts'

// The names of records that are no account's. No account may be called like them.

const ours = 'owner-sso:'
const notes = `${ours}notes:`

export const isOwnRecordName = (name: string): boolean => name.startsWith(ours)

/** Whether a record of ours says nothing that can't be said again, so that one which can't be read is replaced. */
export const isBegunAnew = (name: string): boolean => isOwnRecordName(name) && !name.startsWith(notes)

/** Whether a record of ours is about the store that it stands in, and so of no use in another one. */
export const isOfOneStore = (name: string): boolean => name === rollCallName || name === keeperRecordName

/**
 * The name under which a store keeps what is known about the firewall of an instance of the service: a `FirewallRecord`,
 * for whoever watches over a fleet. While `challenges` is not 0, nobody sends before `noted_at + wait`.
 */
export const firewallRecordName = (authUrl: string): string => `${ours}firewall:${new URL(authUrl).origin}`

/** The name under which a store keeps how much of the budget for refreshes is taken, at an instance of the service. */
export const refreshBudgetRecordName = (authUrl: string): string => `${ours}refresh-budget:${new URL(authUrl).origin}`

/** Where processes call each other to put back what the store has lost. */
export const rollCallName: string = `${ours}roll-call`

export const keeperRecordName: string = `${ours}keeper`

export const triesRecordName = (step: string, index: number): string => `${ours}tries:${step}:${index}`

export const notesRecordName = (topic: string): string => `${notes}${topic}`

export const refreshTokensRecordName = (index: number): string => `${ours}refresh-tokens:${index}`

// Reading them

type Replaceable = Exclude<TokenRecord, { state: 'sealed' | 'spooled' | 'notes' }>

const mostLooks = 3

interface Surroundings {
  readonly store: Pick<GuardedStore, 'read' | 'swap'>
  readonly runtime: Pick<Runtime, 'uniqueId'>
}

export type OwnRecord<Kind extends TokenRecord> = Omit<Versioned, 'record'> & { readonly record: Kind }

/**
 * The record under a name of ours; `undefined` where nothing was ever stored. Where it can't be read, `blank` stands in its place
 * from then on.
 *
 * @param isBelievable - whether a record may say this at all
 * @throws StoreError where the store fails; or, with the name of the record and what to do, where it can't be replaced
 */
export async function readOwnRecord<Kind extends Replaceable>(
  name: string,
  blank: Kind,
  { store, runtime }: Surroundings,
  isBelievable: (record: Kind) => boolean = () => true,
): Promise<OwnRecord<Kind> | undefined> {
  let failure: StoreError | undefined
  for (let looks = 0; looks < mostLooks; looks += 1) {
    try {
      const stored = await store.read(name)
      return stored && checked(stored, blank, isBelievable)
    } catch (error) {
      if (!isDamaged(error)) throw error
      failure = named(name, error)
      if (error.unread === undefined) break
      const swapped = await store.swap(name, error.unread, blank, runtime.uniqueId(), { forgetOlder: true })
      // A conflict: another process has replaced it.
      if ('conflict' in swapped) continue
      warnOnce(name, error.reason)
      return { ...swapped, record: blank }
    }
  }
  throw failure
}

function checked<Kind extends Replaceable>(
  stored: Versioned,
  { state }: Kind,
  isBelievable: (record: Kind) => boolean,
): OwnRecord<Kind> {
  const { version, writeId, record } = checkedRecord<Kind['state']>(stored, state)
  if (isOfKind<Kind>(record, state) && isBelievable(record)) return { version, writeId, record }
  const message = 'The token store holds a record of ours that says what it can’t say.'
  throw new StoreError('corrupt', message, { unread: { version, writeId } })
}

const isOfKind = <Kind extends Replaceable>(record: TokenRecord, state: Kind['state']): record is Kind =>
  record.state === state

/** The store's own sentence tells the place, but speaks of an account. */
function named(name: string, { reason, message }: StoreError): StoreError {
  const remedy = 'Remove it from the store: no account depends on it.'
  return new StoreError(reason, `The token store's record ${name} can't be read, nor replaced. ${remedy} (${message})`)
}

const warned = new Set<string>()

function warnOnce(name: string, reason: string): void {
  if (warned.has(name)) return
  warned.add(name)
  const message = `The token store's record ${name} could not be read (${reason}) and was begun anew. No account is concerned.`
  process.emitWarning(message, { type: 'OwnerSsoWarning', code: 'OWNER_SSO_RECORD' })
}
