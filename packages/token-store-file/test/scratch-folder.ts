/** Folders for one test file, removed at its end. Not in memory: the real file system is what is tested. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from '@jest/globals'

export function scratchFolders(): { readonly make: () => string } {
  const made: string[] = []
  afterAll(() => made.forEach((path) => rmSync(path, { recursive: true, force: true })))
  return {
    make: () => {
      const path = mkdtempSync(join(tmpdir(), 'owner-sso-file-'))
      made.push(path)
      return join(path, 'tokens')
    },
  }
}
