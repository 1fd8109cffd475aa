/** Notes in the store that end by themselves. */
import type { Notes } from '@owner-sso/core'

/** A note that says nothing but how long it counts. */
export interface LivingNote {
  /** Seconds since the epoch. */
  readonly until: number
}

/** Those whose time is not over, and that can be understood: whatever else stands there does not count. */
export function livingNotes(notes: Notes): Map<string, LivingNote> {
  const now = Date.now() / 1000
  const entries: [string, unknown][] = Object.entries(notes)
  return new Map(
    entries.filter((entry): entry is [string, LivingNote] => isLivingNote(entry[1]) && entry[1].until > now),
  )
}

function isLivingNote(value: unknown): value is LivingNote {
  return typeof value === 'object' && value !== null && 'until' in value && typeof value.until === 'number'
}
