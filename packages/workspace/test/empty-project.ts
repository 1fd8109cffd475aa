/** The project that empty-project.mjs made: where it is, what is installed there, and how to run things in it. */
import { execFile } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const packed = process.env['OWNER_SSO_PACKED'] ?? ''
const tarballs = new Map<string, string>(
  Object.entries(JSON.parse(readFileSync(join(packed, 'tarballs.json'), 'utf8'))),
)

export const project: string = join(packed, 'empty-project')

/** The folder of the packages' sources. */
export const packages: string = fileURLToPath(new URL('../../', import.meta.url))

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

/** What can be imported of them: a package's name, or its name with a path behind. */
export const entries: readonly string[] = published.flatMap(({ name, exports }) =>
  Object.keys(exports)
    .filter((entry) => entry !== './package.json')
    .map((entry) => name + entry.slice(1)),
)

export function manifestIn(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

export function tarballOf(name: string): string {
  const tarball = tarballs.get(name)
  if (tarball === undefined) throw new Error(`${name} was not packed`)
  return tarball
}

/** The folder of an installed package. */
export function installed(name: string): string {
  return join(project, 'node_modules', name)
}

/** What a program of an installed package prints to standard output. */
export function runCommand(command: string, args: readonly string[], env?: NodeJS.ProcessEnv): Promise<string> {
  return runInProject(join(project, 'node_modules/.bin', command), args, { HOME: project, ...env })
}

/** What the compiler of the project printed: nothing, when all is well. */
export async function tsc(options: string[]): Promise<string> {
  const compiler = join(project, 'node_modules/typescript/bin/tsc')
  return runInProject(process.execPath, [compiler, ...options]).catch((error: { stdout: string }) => error.stdout)
}

/** What a program prints to standard output. */
export async function runInProject(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, {
    cwd: project,
    env: { PATH: process.env['PATH'], ...env },
    maxBuffer: 16 * 1024 * 1024,
  })
  return stdout
}
