/** Loaded before the command: its clock jumps ahead by as many seconds as the file `TEST_CLOCK_FILE` says, once it is there. */
const { existsSync, readFileSync } = require('node:fs')

const now = Date.now.bind(Date)
Date.now = () =>
  now() + (existsSync(process.env.TEST_CLOCK_FILE) ? Number(readFileSync(process.env.TEST_CLOCK_FILE)) * 1000 : 0)
