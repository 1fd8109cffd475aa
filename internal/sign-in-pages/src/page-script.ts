/**
 * The one script of the pages, which does nothing that they need.
 */
import { createHash } from 'node:crypto'
import { copyScript } from './copy-script.ts'
import { localTimesScript } from './local-times.ts'

/** Stands at the end of each page. */
export const pageScript: string = `${localTimesScript}\n${copyScript}`

/** For `script-src` of the pages' Content-Security-Policy: this script, and no other. */
export const scriptSource: string = `'sha256-${createHash('sha256').update(pageScript).digest('base64')}'`
