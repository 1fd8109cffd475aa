/** What a killed writer runs: `node writer-process.mjs <path> <account>`; prints each acknowledged version. */
import { writeSync } from 'node:fs'
import { writeUntilKilled } from '@owner-sso/token-store-conformance'
import { systemDisk } from '../dist/disk.js'
import { createStore } from '../dist/file-token-store.js'

const [, , path, account] = process.argv
await writeUntilKilled(createStore(systemDisk, { path }), account, (version) => writeSync(1, `${version}\n`))
