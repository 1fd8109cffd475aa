/**
 * The name of a client: what people tell their programs apart by. So no two may look alike, and a key that is revoked by its
 * name is the one that was meant.
 */

import { requireOption } from '../given/given.ts'

const allowed = /^[\p{L}\p{N}._@-][\p{L}\p{N}._@ -]{0,62}[\p{L}\p{N}._@-]$|^[\p{L}\p{N}]$/u
/** Letters that nobody sees, and spaces that a page shows as one. */
const unseen = /\p{Default_Ignorable_Code_Point}| {2}/u

/** The name of a new client, with its accents composed. @throws TypeError */
export function checkedName(name: unknown): string {
  const composed = typeof name === 'string' ? name.normalize('NFC') : ''
  const isRight = allowed.test(composed) && !unseen.test(composed)
  requireOption(isRight, 'name must be 1 to 64 letters, digits, single spaces and . _ - @', name)
  return composed
}

/** Whether two names look the same, or nearly: with accents composed or not, or in letters of another width. */
export function looksLike(one: string, other: string): boolean {
  return one.normalize('NFKC') === other.normalize('NFKC')
}

/** The client that somebody names: the one of that name, or the one whose name is only written otherwise. */
export function namedClient<Client extends { readonly name: string }>(
  clients: readonly Client[],
  name: string,
): Client | undefined {
  const isSame = (one: Client): boolean => one.name.normalize('NFC') === name.normalize('NFC')
  return clients.find((one) => one.name === name) ?? clients.find(isSame)
}
