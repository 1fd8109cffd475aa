/** A program out of a document, pasted into the project with the installed packages, and run there as it stands. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { codeBlocksOf } from '../../support/code-blocks.ts'
import { project } from './empty-project.ts'

export interface PastedProgram extends AsyncDisposable {
  readonly child: ChildProcess
  /** Everything it has printed so far. */
  readonly printed: () => string
  /** Its exit code and all that it printed, once it has ended. */
  readonly ended: Promise<{ code: number | null; printed: string }>
}

/** What is run in one folder, one after the other, finds the files that those before left there. */
export function newFolder(): string {
  const folder = mkdtempSync(join(project, 'pasted-'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  return folder
}

/** Runs the block of the document that the comment `runs: <name>` stands before. It is ended by `await using`. */
export function paste(document: string, name: string, env: NodeJS.ProcessEnv, folder = newFolder()): PastedProgram {
  const file = saved(document, name, folder)
  return run(process.execPath, [...(file.includes('.test.') ? ['--test'] : []), file], { cwd: folder, env })
}

/** Saves the block under its name, as a reader does; one without an ending becomes a module. */
export function saved(document: string, name: string, folder: string): string {
  const block = codeBlocksOf(document).find(({ marks }) => marks['runs'] === name)
  if (block === undefined) throw new Error(`${document} has no code block marked "runs: ${name}"`)
  const file = join(folder, name.includes('.') ? basename(name) : `${name}.js`)
  writeFileSync(file, block.code)
  return file
}

/** Lines of a page, typed into a terminal in that folder. The registry is out of reach: what runs is what is installed. */
export function typed(lines: readonly string[], folder: string, env: NodeJS.ProcessEnv = {}): PastedProgram {
  return run('sh', ['-ec', lines.join('\n')], {
    cwd: folder,
    env: { npm_config_offline: 'true', HOME: folder, ...env },
  })
}

/** Resolves with all that was printed once it matches. */
export async function printing({ child, printed, ended }: PastedProgram, words: RegExp): Promise<RegExpExecArray> {
  for (;;) {
    const found = words.exec(printed())
    if (found) return found
    if (child.exitCode !== null) throw new Error(`It ended without ${String(words)}: ${(await ended).printed}`)
    await Promise.race([once(child.stdout!, 'data'), once(child.stderr!, 'data'), ended])
  }
}

/** A process with all that it starts, in a group of its own. */
function run(
  program: string,
  args: readonly string[],
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
): PastedProgram {
  const path = `${dirname(process.execPath)}:${process.env['PATH']}`
  const child = spawn(program, args, { cwd, detached: true, env: { PATH: path, ...env } })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += String(chunk)))
  const ended = once(child, 'close').then(([code]) => ({ code, printed }))
  const end = async (): Promise<void> => {
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    await ended
  }
  return { child, printed: () => printed, ended, [Symbol.asyncDispose]: end }
}

/** Waits until a program answers at an address. */
export async function answering(address: string, { child, printed }: PastedProgram): Promise<void> {
  while (child.exitCode === null) {
    const answers = await fetch(address).then(
      () => true,
      () => false,
    )
    if (answers) return
  }
  throw new Error(`The program ended with exit code ${child.exitCode}: ${printed()}`)
}
