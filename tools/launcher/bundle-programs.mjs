/**
 * For a package's `globalSetup`: the programs that its tests start as processes of their own, bundled once in a run of Jest.
 *
 * Hundreds of such processes are started, and each would spend most of its processor time on finding and loading three
 * hundred modules, one by one.
 */
import { join } from 'node:path'
import { rolldown } from 'rolldown'

/**
 * @param root - the package's folder: the bundles are put into its `test-artefacts/programs`, `x.mjs` as `x.js`
 * @param programs - their sources, relative to it
 */
export async function bundlePrograms(root, programs) {
  const bundle = await rolldown({
    cwd: root,
    input: programs,
    platform: 'node',
    // A native module is loaded from where it is installed.
    external: ['libsql'],
  })
  await bundle.write({
    dir: join(root, 'test-artefacts/programs'),
    chunkFileNames: '[name].js',
    // What sets a clock before anything else is imported still comes first.
    strictExecutionOrder: true,
  })
  await bundle.close()
}
