/** Loaded before the command: its window shows the last page until the file `TEST_READ_FILE` is there, however slow the reader. */
const { existsSync } = require('node:fs')
const timers = require('node:timers/promises')

const pause = timers.setTimeout
timers.setTimeout = async (milliseconds, value, options) => {
  if (milliseconds !== 1500) return pause(milliseconds, value, options)
  while (!existsSync(process.env.TEST_READ_FILE)) await pause(20, undefined, options)
  return value
}
