/** Notes in the store that end by themselves. */
import type { Notes } from '@owner-sso/core'

/** A note that says nothing but how long it counts. */
export interface LivingNote {
  readonly until: number
}

export function isLivingNote(value: unknown): value is LivingNote {
  return typeof value === 'object' && value !== null && 'until' in value && typeof value.until === 'number'
}

/**
 * Those whose time is not over, and that can be understood: whatever else stands there does not count.
 *
 * @param now - in the unit of `until`
 */
export function livingNotes<Note extends LivingNote>(
  notes: Notes,
  isNote: (value: unknown) => value is Note,
  now: number,
): Map<string, Note> {
  const entries: [string, unknown][] = Object.entries(notes)
  return new Map(entries.filter((entry): entry is [string, Note] => isNote(entry[1]) && entry[1].until > now))
}
