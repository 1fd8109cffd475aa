/**
 * Who got which account's token when, without the token: a line of JSON for each call.
 */
import { appendFile } from 'node:fs/promises'
import { visible } from '@owner-sso/core'
import type { AuditEntry } from '@owner-sso/broker'
import { messageOf } from '../failure/command-error.ts'
import { expandHome } from '../machine/folders.ts'
import { printFact, printNote } from '../terminal/output.ts'

export interface AuditLog {
  readonly note: (entry: AuditEntry) => void
  /** Resolves when all is written. */
  readonly close: () => Promise<void>
}

/** @param path - of a file that only this user can read; a dash: standard error; nothing: no log */
export function auditLog(path: string | undefined): AuditLog | undefined {
  if (path === undefined) return undefined
  if (path === '-') return { note: (entry) => printFact(lineOf(entry)), close: async () => undefined }
  const file = expandHome(path)
  let written = Promise.resolve()
  let isToldOf = false
  /** Tokens are handed out also where it can't be written; the next line is tried again. */
  const append = async (line: string): Promise<void> => {
    try {
      await appendFile(file, line, { mode: 0o600 })
      isToldOf = false
    } catch (error) {
      if (!isToldOf) printNote(`The audit log can’t be written: ${messageOf(error)}`)
      isToldOf = true
    }
  }
  return {
    note(entry) {
      const line = `${visible(JSON.stringify(lineOf(entry)))}\n`
      written = written.then(() => append(line))
    },
    close: () => written,
  }
}

function lineOf({ at, ...entry }: AuditEntry): object {
  return { time: new Date(at * 1000).toISOString(), ...entry }
}
