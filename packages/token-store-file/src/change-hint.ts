/**
 * `watch`: the operating system tells when a version file appears. A hint only: where it can't, polling is left.
 */
import { watch } from 'node:fs'

/** Calls back when something changes in a folder; never keeps the process alive. Returns an unsubscribe function. */
export function watchFolder(folder: string, onChange: () => void): () => void {
  try {
    const watcher = watch(folder, { persistent: false }, (_event, name) => {
      if (name === null || name.startsWith('t.')) onChange()
    })
    watcher.on('error', () => watcher.close())
    return () => watcher.close()
  } catch {
    return () => undefined
  }
}
