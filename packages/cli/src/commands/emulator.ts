/**
 * `owner-sso emulator`: the emulator's own command, with its own options. Loaded only here.
 */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { exitCodes } from '../failure/command-error.ts'
import { untilStopped } from '../failure/interruption.ts'
import { defineCommand } from './command.ts'

export const command = defineCommand({
  name: 'emulator',
  args: '[options...]',
  summary: 'run the service on this machine, to try things out',
  description: '',
  options: {},
  passesOptionsOn: true,
  examples: [],
  async run(): Promise<number | void> {
    const manifestPath = createRequire(import.meta.url).resolve('@owner-sso/emulator/package.json')
    // It reads its options off the process, and answers Ctrl-C itself.
    process.argv.splice(2, 1)
    // Behind `cli.js`, which says which Node is needed.
    await import(pathToFileURL(join(dirname(manifestPath), 'dist', 'cli-program.js')).href)
    const failed = process.exitCode !== undefined && process.exitCode !== 0
    // Whatever kept it from starting is in how it was called.
    if (failed) return exitCodes.usage
    if (!process.argv.some((argument) => argument === '--help' || argument === '--version')) await untilStopped()
  },
})
