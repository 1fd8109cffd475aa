#!/usr/bin/env node
import { run } from './command.ts'

const { env, stdin } = process
process.exitCode = await run(process.argv.slice(2), {
  env,
  stdin,
  print: (text) => process.stdout.write(text),
  complain: (text) => process.stderr.write(text),
})
