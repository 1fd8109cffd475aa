#!/usr/bin/env node
/**
 * The command `npx @owner-sso/recorder`: `record` and `replay`.
 */
import { runRecorder } from './command.ts'

await runRecorder(process.argv.slice(2))
