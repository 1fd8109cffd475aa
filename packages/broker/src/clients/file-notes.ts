/**
 * Shared notes in a file of JSON: replaced as a whole, never changed in place, and by one process at a time.
 *
 * A new file is written beside the old one, brought to disk and renamed over it: whoever reads sees the old one or the new
 * one, whatever dies when.
 */
import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { open, readFile, readdir, realpath, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type Notes, systemCode, textFromUtf8 } from '@owner-sso/core'
import { ClientsError } from './clients-error.ts'
import { withFileLock } from './file-lock.ts'
import type { SharedNotes } from './shared-notes.ts'

/** A file of the owner's alone. */
const mode = 0o600

/** Milliseconds after which a file's times tell it from every later one: clocks of file systems are coarse. */
const settled = 100

/** What tells a file from its successor. */
type Identity = string

export function fileNotes(file: string): SharedNotes {
  let known: { readonly identity: Identity; readonly notes: Notes } | undefined
  /** Changes of this process stand in line here, those of others at the lock. */
  let last: Promise<unknown> = Promise.resolve()

  const read = async (): Promise<Notes> => {
    try {
      const identity = await identityOf(file)
      if (known !== undefined && known.identity === identity) return known.notes
      const notes = notesIn(await readFile(file), file)
      // Read between two looks at it, and not so young that another may look the same.
      const isSettled = identity !== undefined && (await identityOf(file)) === identity
      known = isSettled ? { identity, notes } : undefined
      return notes
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return {}
      if (error instanceof ClientsError) throw error
      throw new ClientsError('unreadable', `${file} can’t be read (${systemCode(error)}).`, error)
    }
  }

  const replace = async (change: (notes: Notes) => Notes): Promise<Notes> => {
    try {
      // A file that is a link, as a container's secrets are, stays one.
      const target = await realpath(file).catch(() => file)
      return await withFileLock(target, async () => {
        const before = await read()
        const notes = change(before)
        if (notes !== before) await write(target, `${JSON.stringify(notes, null, 2)}\n`)
        return notes
      })
    } catch (error) {
      if (error instanceof ClientsError || systemCode(error) === undefined) throw error
      throw new ClientsError('unwritable', `${file} can’t be written (${systemCode(error)}).`, error)
    }
  }

  return {
    where: file,
    read,
    change(change) {
      const changed = last.then(() => replace(change))
      last = changed.catch(() => undefined)
      return changed
    },
  }
}

/** @throws ClientsError `malformed` */
function notesIn(content: Buffer, file: string): Notes {
  try {
    const notes: unknown = JSON.parse(textFromUtf8(content, file))
    if (typeof notes === 'object' && notes !== null && !Array.isArray(notes)) return { ...notes }
  } catch (error) {
    if (error instanceof TypeError) throw new ClientsError('malformed', `${error.message}.`)
    // It is no JSON: the same sentence.
  }
  throw new ClientsError('malformed', `${file} must be a JSON object.`)
}

/**
 * `undefined` for a file that was changed a moment ago.
 *
 * @throws ClientsError where anybody may write to the file: then anybody may let themselves in
 */
async function identityOf(file: string): Promise<Identity | undefined> {
  const { ino, size, mtimeNs, ctimeNs, mode: permissions, ctimeMs } = await stat(file, { bigint: true })
  if (process.platform !== 'win32' && (permissions & 0o002n) !== 0n) {
    throw new ClientsError('not-private', `Everybody may write to ${file}: run chmod 600 ${file}.`)
  }
  return Date.now() - Number(ctimeMs) < settled ? undefined : [ino, size, mtimeNs, ctimeNs].join(' ')
}

async function write(file: string, text: string): Promise<void> {
  const folder = dirname(file)
  const prefix = `${basename(file)}.new-`
  // Under the lock nobody else is writing: what stands there was left by a process that died.
  const left = (await readdir(folder)).filter((name) => name.startsWith(prefix))
  for (const name of left) await unlink(join(folder, name)).catch(() => undefined)
  const successor = join(folder, prefix + randomUUID())
  await writeFile(successor, text, { mode, flag: 'wx', flush: true })
  await rename(successor, file)
  await syncFolder(folder)
}

async function syncFolder(folder: string): Promise<void> {
  // Windows has no such thing.
  if (process.platform === 'win32') return
  const handle = await open(folder, constants.O_RDONLY)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
