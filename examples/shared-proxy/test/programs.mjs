/** Jest's global setup: what the tests start as processes, bundled before the first of them. */
import { fileURLToPath } from 'node:url'
import { bundlePrograms } from '../../../tools/launcher/bundle-programs.mjs'

export default () => bundlePrograms(fileURLToPath(new URL('..', import.meta.url)), ['dist/main-program.js'])
