/** Notes in the store that end by themselves. */
import type { Notes } from '@owner-sso/core'

/**
 * Those whose time is not over, and that can be understood: whatever else stands there does not count.
 *
 * @param now - in the unit of `until`
 */
export function livingNotes<Note extends { readonly until: number }>(
  notes: Notes,
  isNote: (value: unknown) => value is Note,
  now: number,
): Map<string, Note> {
  const entries: [string, unknown][] = Object.entries(notes)
  return new Map(entries.filter((entry): entry is [string, Note] => isNote(entry[1]) && entry[1].until > now))
}
