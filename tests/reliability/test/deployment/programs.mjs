/** Jest's global setup: the programs that the scenarios start, bundled before the first of them. */
import { fileURLToPath } from 'node:url'
import { bundlePrograms } from '../../../../tools/launcher/bundle-programs.mjs'

const programs = ['worker-process', 'held-up-process', 'sign-in-instance', 'frozen-function']

export default () =>
  bundlePrograms(
    fileURLToPath(new URL('../..', import.meta.url)),
    programs.map((name) => `test/deployment/${name}.mjs`),
  )
