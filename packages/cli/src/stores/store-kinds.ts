/**
 * The kinds of stores that the command knows: help, the doctor and every error text take them from this table.
 */
import { usageError } from '../failure/command-error.ts'
import { fileStore } from './file.ts'
import { memoryStore } from './memory.ts'
import { postgresStore } from './postgres.ts'
import { redisStore } from './redis.ts'
import { sqliteStore } from './sqlite.ts'
import type { StoreKind } from './store-kind.ts'

export const storeKinds: readonly StoreKind[] = [fileStore, redisStore, postgresStore, sqliteStore, memoryStore]

/** The kind and the place of an address. @throws CommandError for an address that is not one of a store */
export function storeAt(address: string): { readonly kind: StoreKind; readonly place: string } {
  for (const kind of storeKinds) {
    const place = kind.parse(address)
    if (place !== undefined) return { kind, place }
  }
  // Without a scheme there is no password in it.
  if (/^[~./]/u.test(address)) throw usageError('The store’s address has no kind.', `Did you mean file:${address}?`)
  throw usageError(
    'The store’s address can’t be understood.',
    `It is ${oneOf(storeKinds.flatMap(({ forms }) => forms))}.`,
  )
}

/** How addresses look, in short: `file:PATH, …`. */
export const addressForms = (): string => oneOf(storeKinds.map(({ forms }) => forms[0]))

function oneOf(forms: readonly string[]): string {
  return `${forms.slice(0, -1).join(', ')} or ${forms.at(-1)}`
}
