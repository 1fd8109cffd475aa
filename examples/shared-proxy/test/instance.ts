/** One instance of the gateway as the tests see it: a real process of `dist/main.js`, bundled from where its entry leads. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { type Program, programOf } from '../../../tests/support/program.ts'

const dist = fileURLToPath(new URL('../dist/', import.meta.url))
const bundled = fileURLToPath(new URL('../test-artefacts/programs/', import.meta.url))
const clock = fileURLToPath(new URL('clock.mjs', import.meta.url))

export interface Instance extends Program {
  readonly url: string
  readonly port: number
  /** Moves its clocks. */
  readonly pass: (seconds: number) => Promise<void>
  readonly signal: (signal: NodeJS.Signals) => Promise<unknown>
}

export interface ProgramOptions {
  readonly environment?: Readonly<Record<string, string>>
  /** Piped in. */
  readonly input?: string
  /** A process group of its own, as the shell gives it. */
  readonly group?: boolean
}

/** Runs the program with these variables and the PATH; all but the demo, which starts instances itself, bundled. */
export function run(name: 'main' | 'demo', { environment = {}, input, group = false }: ProgramOptions = {}): Program {
  const { PATH = '' } = process.env
  const child = spawn(
    process.execPath,
    ['--import', clock, name === 'demo' ? `${dist}demo.js` : `${bundled}main-program.js`],
    {
      env: { PATH, ...environment },
      stdio: ['pipe', 'pipe', 'pipe', 'ipc'],
      detached: group,
    },
  )
  child.stdin?.end(input ?? '')
  return programOf(child)
}

/** Resolves when it listens and has reached Redis. */
export async function startInstance(environment: Readonly<Record<string, string>>): Promise<Instance> {
  const program = run('main', { environment: { PORT: '0', ...environment } })
  const [[, url = '']] = await Promise.all([
    program.prints(/"listening","url":"([^"]+)"/u),
    program.prints(/"store-connected"/u),
  ])
  return {
    ...program,
    url,
    port: Number(new URL(url).port),
    async pass(seconds) {
      const passed = once(program.child, 'message')
      program.child.send({ pass: seconds })
      await passed
    },
    signal(signal) {
      program.child.kill(signal)
      return program.exitCode
    },
  }
}
