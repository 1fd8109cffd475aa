/**
 * One save on a file system without hard links: `node linkless-process.mjs <path> <account> <write id> <pause>`. With `pause`
 * it stops in the middle of its version file, says so, and waits for a line. Prints how it ended.
 */
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { systemDisk } from '../dist/disk.js'
import { createStore } from '../dist/file-token-store.js'

const [, , path, account, writeId, pause] = process.argv
let version
const disk = {
  ...systemDisk,
  link: () => Promise.reject(Object.assign(new Error('no links'), { code: 'EPERM', syscall: 'link' })),
  open: async (name, ...rest) => {
    const fd = await systemDisk.open(name, ...rest)
    if (/\/t\.\d+$/u.test(name)) version = fd
    return fd
  },
  write: async (fd, ...rest) => {
    if (pause === 'pause' && fd === version) {
      writeSync(1, 'paused\n')
      await once(process.stdin, 'data')
    }
    return systemDisk.write(fd, ...rest)
  },
}
const record = { schema: 1, state: 'signed-out', generation: 0, by: writeId }
try {
  const answer = await createStore(disk, { path }).swap(account, 0, record, writeId)
  writeSync(1, 'version' in answer ? `version ${answer.version}\n` : 'conflict\n')
} catch (error) {
  writeSync(1, `${error.reason}: ${error.message}\n`)
}
process.exit()
