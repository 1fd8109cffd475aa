/** The lock of a SQLite file, which belongs to one writer: who is stopped with it keeps all others out. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import Database from 'libsql'
import type { StoreSettings } from './stores.ts'
import type { Worker } from './worker.ts'

/** Takes it as a writer of another program does. Returns what lets it go. */
export function lock(path: string): () => void {
  const client = new Database(path)
  client.exec('PRAGMA busy_timeout = 5000')
  try {
    client.exec('BEGIN IMMEDIATE')
  } catch (error) {
    client.close()
    throw error
  }
  return () => {
    client.exec('ROLLBACK')
    client.close()
  }
}

/** Stops a process anywhere but while it writes to a SQLite file. */
export async function stopOutsideOfLock(worker: Worker, store: StoreSettings): Promise<void> {
  for (;;) {
    worker.stop()
    if (store.kind !== 'sqlite' || isFree(store.path)) return
    worker.continue()
    await nextTurn()
  }
}

/** Not held for longer than a write takes. */
function isFree(path: string): boolean {
  try {
    lock(path)()
    return true
  } catch {
    return false
  }
}
