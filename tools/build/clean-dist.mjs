/**
 * Where a package's build begins: what an earlier one left in `dist/` goes, or files of sources that are gone would be packed.
 *
 * `node ./clean-dist.mjs`, in the package's folder
 */
import { rmSync } from 'node:fs'

rmSync('dist', { recursive: true, force: true })
