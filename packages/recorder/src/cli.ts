#!/usr/bin/env node
/**
 * The command `npx @owner-sso/recorder`: `record` and `replay`.
 */
import { runRecorder } from './command.ts'

// A login goes on where nobody reads what is printed (`| head`).
process.stdout.on('error', () => undefined)

await runRecorder(process.argv.slice(2))
