/** Processes that end with the test that started them. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach } from '@jest/globals'
import { shellWord } from '../../support/shell-word.ts'

/** The command line, as it was built. */
export const command = join(import.meta.dirname, '../../../packages/cli/dist/main.cjs')

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Runs when the test is over, the last one first. */
export function atEnd(end: () => unknown): void {
  ends.push(end)
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

/** @param own - what it has beside its standard input and output */
export function start(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  own: readonly ('ignore' | 'inherit' | 'pipe' | 'ipc')[] = ['inherit'],
): ChildProcess {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', ...own], env })
  atEnd(async () => {
    if (hasEnded(child)) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  })
  return child
}

/** What a process answers with, a line for each that it is told. */
export function conversationWith({ stdin, stdout }: ChildProcess): () => Promise<string> {
  if (stdout === null) throw new Error('It has no standard output.')
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]()
  return async () => {
    stdin?.write('go\n')
    const { value, done } = await lines.next()
    return done === true ? 'ended' : value
  }
}

/** A person's shell in a folder, in which the command is installed. With a program end all that it has started. */
export function shellIn(
  home: string,
  settings: NodeJS.ProcessEnv,
): (program: string, ...args: string[]) => ChildProcess {
  const installed = join(home, 'owner-sso')
  writeFileSync(installed, `#!/bin/sh\nexec ${shellWord(process.execPath)} ${shellWord(command)} "$@"\n`)
  chmodSync(installed, 0o755)
  const env = { PATH: `${home}:${process.env['PATH']}`, HOME: home, OWNER_SSO_KEYRING: 'off', ...settings }
  return (program, ...args) => {
    const child = spawn(program, args, { cwd: home, env, detached: true, stdio: 'pipe' })
    atEnd(async () => {
      if (hasEnded(child)) return
      const gone = once(child, 'exit')
      spawnSync('kill', ['-KILL', '--', `-${child.pid}`])
      await gone
    })
    return child
  }
}
