/**
 * Ancestry: which sign-ins and sign-outs an account's record was made over. Each has a random name and carries the names of
 * those before it, so that "newer" is something a process can prove. Numbers and clocks can't: a store that was emptied
 * counts from the beginning again, and a clock that was a year ahead for a minute would be right for a year.
 */
import type { AccountRecord, Ancestry } from '../tokens/token-record.ts'

/** How many names a record carries. One that was made over more is not known to descend from the oldest of them. */
const remembered = 16

/** The name of a record's sign-in or sign-out. */
export function sessionOf({ session, generation }: Ancestry): string {
  return session ?? `generation ${generation}`
}

/** Whether a record is of a sign-in or sign-out that was made over the other's. */
export function descends(record: Ancestry, from: Ancestry): boolean {
  return record.replaces?.includes(sessionOf(from)) ?? false
}

/** What a record hands down to those that refreshes make of it. */
export function ancestryOf(record: Ancestry): Required<Ancestry> {
  return { schema: 1, generation: record.generation, session: sessionOf(record), replaces: record.replaces ?? [] }
}

/** A place above all of `records` and what they were made over. Those that are not there don't matter. */
export function ancestryOver(session: string, ...records: readonly (AccountRecord | undefined)[]): Required<Ancestry> {
  const before = records.filter((record) => record !== undefined)
  const names = [...before.map(sessionOf), ...before.flatMap(({ replaces = [] }) => replaces)]
  return {
    schema: 1,
    generation: Math.max(0, ...before.map(({ generation }) => generation)) + 1,
    session,
    replaces: [...new Set(names)].filter((name) => name !== session).slice(0, remembered),
  }
}
