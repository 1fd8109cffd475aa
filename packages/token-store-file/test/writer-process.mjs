/** What a killed writer runs: `node writer-process.mjs <path> <account> <hardLinks>`; prints each acknowledged version. */
import { writeSync } from 'node:fs'
import { writeUntilKilled } from '@owner-sso/token-store-conformance'
import { systemDisk } from '../dist/disk.js'
import { storeOn } from '../dist/file-token-store.js'

const [, , path, account, hardLinks] = process.argv
const noLinks = () => Promise.reject(Object.assign(new Error('no links'), { code: 'EPERM', syscall: 'link' }))
const disk = hardLinks === 'false' ? { ...systemDisk, link: noLinks } : systemDisk
await writeUntilKilled(storeOn(disk, { path }), account, (version) => writeSync(1, `${version}\n`))
