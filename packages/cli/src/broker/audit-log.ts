/**
 * Who got which account's token when, without the token: a line of JSON for each call.
 */
import { createWriteStream, type WriteStream } from 'node:fs'
import { visible } from '@owner-sso/core'
import type { AuditEntry } from '@owner-sso/broker'
import { expandHome } from '../machine/folders.ts'
import { printFact, printNote } from '../terminal/output.ts'

export interface AuditLog {
  readonly note: (entry: AuditEntry) => void
  readonly close: () => Promise<void>
}

/** @param path - of a file that only this user can read; a dash: standard error; nothing: no log */
export function auditLog(path: string | undefined): AuditLog | undefined {
  if (path === undefined) return undefined
  if (path === '-') return { note: (entry) => printFact(lineOf(entry)), close: async () => undefined }
  let isToldOf = false
  /** Tokens are handed out also where it can't be written. A stream that failed writes no more: the next line gets another. */
  const open = (): WriteStream => {
    const stream = createWriteStream(expandHome(path), { flags: 'a', mode: 0o600 })
    return stream.on('error', ({ message }) => {
      if (!isToldOf) printNote(`The audit log can’t be written: ${message}`)
      isToldOf = true
      file = undefined
    })
  }
  let file: WriteStream | undefined = open()
  return {
    note(entry) {
      file ??= open()
      file.write(`${visible(JSON.stringify(lineOf(entry)))}\n`, (error) => {
        if (!error) isToldOf = false
      })
    },
    close: () => new Promise((resolve) => (file === undefined ? resolve() : void file.end(() => resolve()))),
  }
}

function lineOf({ at, ...entry }: AuditEntry): object {
  return { time: new Date(at * 1000).toISOString(), ...entry }
}
