/** Loaded before the command: at its end it says which files were. */
process.on('exit', () => {
  const files = Object.keys(require.cache).filter((file) => file !== __filename)
  require('node:fs').writeSync(2, `LOADED ${JSON.stringify(files)}`)
})
