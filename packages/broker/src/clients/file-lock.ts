/**
 * One process at a time, for a few milliseconds, by files beside the one that is locked: `NAME.lock-1`, `NAME.lock-2`, …
 *
 * The highest number counts. It holds who has the lock, or that nobody has. To take it is to create the next number, which
 * one process alone can do; no lock is ever deleted while it counts, so nobody can take away another's. A process that died
 * with the lock is passed over at once where that can be proven, else after half a minute.
 */
import { randomUUID } from 'node:crypto'
import { link, readdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { currentHolder, type Holder, livenessOf, systemCode } from '@owner-sso/core'
import { ClientsError } from './clients-error.ts'

/** Milliseconds that a process waits for others. */
const patience = 10_000
/** Milliseconds after which a holder that nothing is known of has died: a change takes a few. */
const longestHold = 30_000

/** @throws ClientsError `busy` where others hold the lock all the time; else what `action` throws, or the file system */
export async function withFileLock<Value>(file: string, action: () => Promise<Value>): Promise<Value> {
  const lock = await take(file)
  try {
    return await action()
  } finally {
    await replaceLock(lock, { free: true })
  }
}

/** Resolves to the path of the lock that is now held. */
async function take(file: string): Promise<string> {
  const deadline = Date.now() + patience
  for (;;) {
    const highest = Math.max(0, ...(await locksOf(file)).values())
    if (highest === 0 || (await isFree(lockPath(file, highest)))) {
      const own = lockPath(file, highest + 1)
      if (await create(own)) {
        // Others may have gone on meanwhile, and removed the number that was just created anew.
        if (Math.max(...(await locksOf(file)).values()) === highest + 1) {
          await sweep(file, highest + 1)
          return own
        }
        await unlink(own).catch(() => undefined)
      }
    }
    if (Date.now() > deadline) {
      throw new ClientsError('busy', `Another process has been changing ${file} for ten seconds. Try again.`)
    }
    await pause(5 + 20 * Math.random())
  }
}

async function isFree(lock: string): Promise<boolean> {
  try {
    const content: unknown = JSON.parse(await readFile(lock, 'utf8'))
    const liveness = isHolder(content) ? livenessOf(content) : 'dead'
    if (liveness !== 'unknown') return liveness === 'dead'
    return Date.now() - (await stat(lock)).mtimeMs > longestHold
  } catch {
    // Gone: somebody else took the next one. The list is read again.
    return false
  }
}

/** Removes what no longer counts beside one's own lock, and the drafts that processes left behind as they died. */
async function sweep(file: string, held: number): Promise<void> {
  const own = basename(lockPath(file, held))
  for (const [name, number] of await locksOf(file, anyLock)) {
    if (number <= held && name !== own) await unlink(join(dirname(file), name)).catch(() => undefined)
  }
}

/** False where it exists. It appears with its content: nobody reads half a lock. */
async function create(lock: string): Promise<boolean> {
  const draft = await writeDraft(lock, currentHolder())
  try {
    await link(draft, lock)
    return true
  } catch (error) {
    // The draft of a process that was slow may have been swept away.
    if (['EEXIST', 'ENOENT'].includes(systemCode(error) ?? '')) return false
    throw error
  } finally {
    await unlink(draft).catch(() => undefined)
  }
}

async function replaceLock(lock: string, content: object): Promise<void> {
  await rename(await writeDraft(lock, content), lock)
}

async function writeDraft(lock: string, content: object): Promise<string> {
  const draft = `${lock}-${randomUUID()}`
  await writeFile(draft, JSON.stringify(content), { mode: 0o600, flag: 'wx' })
  return draft
}

const lockPath = (file: string, number: number): string => `${file}.lock-${number}`

const aLock = /^(\d{1,15})$/u
const anyLock = /^(\d{1,15})(?:-[\da-f-]+)?$/u

/** The locks beside a file, by name, with their numbers. */
async function locksOf(file: string, pattern: RegExp = aLock): Promise<ReadonlyMap<string, number>> {
  const prefix = `${basename(file)}.lock-`
  const names = (await readdir(dirname(file))).filter((name) => name.startsWith(prefix))
  return new Map(
    names.flatMap((name) => {
      const number = pattern.exec(name.slice(prefix.length))?.[1]
      return number === undefined ? [] : [[name, Number(number)] as const]
    }),
  )
}

function isHolder(value: unknown): value is Holder {
  return typeof value === 'object' && value !== null && 'pid' in value && typeof value.pid === 'number'
}
