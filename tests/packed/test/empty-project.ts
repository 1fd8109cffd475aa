/** The project that empty-project.mjs made: where it is, what is installed there, and how to run things in it. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const packed = process.env['OWNER_SSO_PACKED'] ?? ''
const tarballs = new Map<string, string>(
  Object.entries(JSON.parse(readFileSync(join(packed, 'tarballs.json'), 'utf8'))),
)

export const project: string = join(packed, 'empty-project')

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
