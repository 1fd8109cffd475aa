/** The packages that a release publishes, as their manifests say. */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folder of the packages' sources. */
export const packages: string = fileURLToPath(new URL('../../packages/', import.meta.url))

export interface Manifest {
  name: string
  version: string
  private?: boolean
  keywords?: string[]
  bin?: Record<string, string>
  engines: Record<string, string>
  exports: Record<string, unknown>
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
}

/** The packages that a release publishes. */
export const published: readonly (Manifest & { folder: string })[] = readdirSync(packages)
  .map((folder) => ({ folder, ...manifestIn(join(packages, folder)) }))
  .filter((manifest) => !manifest.private)

/** What applications can import of them: a package's name, or its name with a path behind. `support` and `http` are for our own packages. */
export const entries: readonly string[] = published.flatMap(({ name, exports }) =>
  Object.keys(exports)
    .filter((entry) => !['./package.json', './support', './http'].includes(entry))
    .map((entry) => name + entry.slice(1)),
)

export function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
