/** A process that is held up at a moment of the test's choice: stopped from outside, or blocked by itself. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** How a process can be held up. */
export const holdUps = ['stopped', 'blocked'] as const

export interface HeldUp {
  /** Holds the process up. Resolves once it is; `duration` milliseconds later it goes on by itself. */
  readonly begin: () => Promise<void>
  /** Resolves when the task has told of this: the port that it listens on, or that its answer is stuck. */
  readonly tells: (what: 'port' | 'stuck') => Promise<unknown>
  /** What came of its task. @throws Error with what it wrote to stderr, where it failed */
  readonly output: Promise<string>
}

/** @param given - plain data: what `task`, one of those in `held-up-process.mjs`, is called with */
export function startHeldUp(
  task: 'refresh' | 'proxy' | 'slowCaller' | 'signal' | 'redis',
  given: Readonly<Record<string, unknown>>,
  { how, duration }: { readonly how: (typeof holdUps)[number]; readonly duration: number },
): HeldUp {
  const child = spawn(process.execPath, ['--no-warnings', program], {
    env: { ...process.env, HELD_UP: JSON.stringify({ task, given, duration }) },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let outcome = ''
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [word = '', ...rest] = line.split(' ')
    if (line === 'held up' || line === 'stuck') child.emit(line)
    else if (word === 'port') child.emit(word, Number(rest.join(' ')))
    else outcome = line
  })
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  const output = once(child, 'close').then(() => {
    if (complaint !== '') throw new Error(complaint)
    return outcome
  })
  return {
    async begin() {
      if (how === 'blocked') {
        child.stdin.write('block')
        await once(child, 'held up')
      } else {
        child.kill('SIGSTOP')
        setTimeout(() => child.kill('SIGCONT'), duration)
      }
    },
    tells: (what) => once(child, what).then(([told]) => told),
    output,
  }
}

const program = fileURLToPath(new URL('../../test-artefacts/programs/held-up-process.js', import.meta.url))
