/**
 * Loaded before the command: at its end it says which files were loaded, which modules of Node's beside those of every start,
 * and how many folders were listed.
 */
const fs = require('node:fs')

const atStart = new Set(process.moduleLoadList)

let listings = 0
const { readdir } = fs
fs.readdir = (...call) => {
  listings += 1
  return readdir(...call)
}

process.on('exit', () => {
  const files = Object.keys(require.cache).filter((file) => file !== __filename)
  const modules = process.moduleLoadList
    .filter((entry) => !atStart.has(entry))
    .map((entry) => entry.replace(/^NativeModule /u, ''))
  fs.writeSync(2, `LISTED ${listings}\nMODULES ${modules.join(' ')}\nLOADED ${JSON.stringify(files)}`)
})
