/**
 * The command in a real terminal: a pseudo-terminal of util-linux's `script`, which every Debian has.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { describe } from '@jest/globals'
import { shellWord } from '../../../tests/support/shell-word.ts'
import { command, ended, type Machine, until } from './machine.ts'

const isHere = spawnSync('script', ['--version']).status === 0
if (!isHere) console.warn('Skipped: the tests of the prompts need the command script (Debian: bsdutils).')

/** `describe` where there are pseudo-terminals. */
export const describeInTerminal: typeof describe | typeof describe.skip =
  isHere || process.env['CI'] === 'true' ? describe : describe.skip

export interface Terminal {
  /** Waits until the screen shows this, after what was waited for before. */
  readonly shows: (text: string) => Promise<void>
  readonly type: (keys: string) => void
  /** The process id of the command. */
  readonly pid: () => Promise<number>
  /** All that was shown, without control characters. */
  readonly screen: () => string
  /** All that was shown, with them. */
  readonly raw: () => string
  /** The exit code, and whether the terminal's settings are what they were before. */
  readonly end: () => Promise<{ code: number | null; restored: boolean }>
}

export const enter = '\r'
export const controlC = '\u0003'
export const controlD = '\u0004'

/** The command, with these arguments. */
export function inTerminal(machine: Machine, args: readonly string[], env: NodeJS.ProcessEnv = {}): Terminal {
  return programInTerminal(machine, [process.execPath, command, ...args], env)
}

/** Any program, such as a shell. */
export function programInTerminal(machine: Machine, words: readonly string[], env: NodeJS.ProcessEnv = {}): Terminal {
  const [before, after, pidFile] = ['before', 'after', 'pid'].map((name) => join(machine.home, `terminal.${name}`))
  const quoted = words.map(shellWord).join(' ')
  const lines = [
    // Ctrl-C is the command's to heed, not this script's.
    'trap : INT',
    'stty cols 100 rows 40',
    `stty -g > ${before}`,
    `sh -c 'echo $$ > ${pidFile}; exec "$@"' sh ${quoted}`,
    'code=$?',
    `stty -g > ${after}`,
    'exit $code',
  ]
  const child = machine.own(
    spawn('script', ['-qefc', lines.join('\n'), '/dev/null'], {
      cwd: machine.home,
      env: { ...machine.env, TERM: 'xterm-256color', ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    }),
  )
  const closed = ended(child)
  let raw = ''
  let seen = 0
  child.stdout.on('data', (chunk) => (raw += chunk))
  const screen = (): string => stripVTControlCharacters(raw)
  return {
    async shows(text) {
      await until(() => screen().includes(text, seen)).catch(() => {
        throw new Error(`The terminal never showed ${JSON.stringify(text)}, but: ${screen()}`)
      })
      seen = screen().indexOf(text, seen) + text.length
    },
    type: (keys) => child.stdin.write(keys),
    async pid() {
      await until(() => existsSync(pidFile ?? '') && readFileSync(pidFile ?? '', 'utf8').endsWith('\n'))
      return Number(readFileSync(pidFile ?? '', 'utf8'))
    },
    screen,
    raw: () => raw,
    async end() {
      const { code } = await closed
      return { code, restored: readFileSync(before ?? '', 'utf8') === readFileSync(after ?? '', 'utf8') }
    },
  }
}

const captures = fileURLToPath(new URL('../test-artefacts/captures', import.meta.url))

/** Keeps what a terminal showed, for people to look at: as it was written, and without control characters. */
export function capture(name: string, { raw, screen }: Terminal): void {
  mkdirSync(captures, { recursive: true })
  writeFileSync(join(captures, `${name}.ansi`), raw())
  writeFileSync(join(captures, `${name}.txt`), screen())
}
