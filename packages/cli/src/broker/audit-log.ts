/**
 * Who got which account's token when, without the token: a line of JSON for each call.
 */
import { createWriteStream } from 'node:fs'
import type { AuditEntry } from '@owner-sso/broker'
import { expandHome } from '../folders.ts'
import { printNote } from '../output.ts'
import { visible } from '../visible-text.ts'

export interface AuditLog {
  readonly note: (entry: AuditEntry) => void
  /** Resolves when all is written. */
  readonly close: () => Promise<void>
}

/** @param path - of a file that only this user can read; a dash: standard error; nothing: no log */
export function auditLog(path: string | undefined): AuditLog | undefined {
  if (path === undefined) return undefined
  if (path === '-') return { note: (entry) => printNote(JSON.stringify(lineOf(entry))), close: async () => undefined }
  const file = createWriteStream(expandHome(path), { flags: 'a', mode: 0o600 })
  // Tokens are handed out all the same.
  file.on('error', ({ message }) => printNote(`The audit log can’t be written: ${message}`))
  return {
    note: (entry) => void file.write(`${visible(JSON.stringify(lineOf(entry)))}\n`),
    close: () => new Promise((resolve) => void file.end(() => resolve())),
  }
}

function lineOf({ at, ...entry }: AuditEntry): object {
  return { time: new Date(at * 1000).toISOString(), ...entry }
}
