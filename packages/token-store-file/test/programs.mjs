/** Jest's global setup: the processes that are killed, bundled before the first test. */
import { fileURLToPath } from 'node:url'
import { bundlePrograms } from '../../../tools/launcher/bundle-programs.mjs'

export default () =>
  bundlePrograms(fileURLToPath(new URL('..', import.meta.url)), ['test/writer-process.mjs', 'test/swapper-process.mjs'])
