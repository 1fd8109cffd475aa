/** A program in a process of its own that is held up at a moment of the test's choice: stopped from outside, or blocked by itself. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** How a process can be held up. */
export const holdUps = ['stopped', 'blocked'] as const

export interface HeldUp {
  /** Holds the process up. Resolves once it is; `duration` milliseconds later it goes on by itself. */
  readonly begin: () => Promise<void>
  /** What the program printed last, once it has ended. @throws Error with what it wrote to stderr, where it failed */
  readonly output: Promise<string>
}

/**
 * Starts a program (the text of an ES module, which may import what this package may).
 *
 * @param given - plain data that it finds as `given`
 */
export function startHeldUp(
  program: string,
  given: unknown,
  { how, duration }: { readonly how: (typeof holdUps)[number]; readonly duration: number },
): HeldUp {
  const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', prelude + program], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...process.env, GIVEN: JSON.stringify({ given, duration }) },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === held) child.emit(held)
    else lines.push(line)
  })
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => (complaint += chunk.toString()))
  const ended = once(child, 'close').then(() => {
    if (complaint !== '') throw new Error(complaint)
    return lines.at(-1) ?? ''
  })
  return {
    async begin() {
      if (how === 'blocked') {
        child.stdin.write(held)
        await once(child, held)
      } else {
        child.kill('SIGSTOP')
        setTimeout(() => child.kill('SIGCONT'), duration)
      }
    },
    output: ended,
  }
}

const held = 'held up'

/** Blocks when it is told to, in the midst of a turn of the event loop. */
const prelude = `
  import { writeSync } from 'node:fs'
  const { given, duration } = JSON.parse(process.env.GIVEN)
  process.stdin.once('data', () => {
    writeSync(1, ${JSON.stringify(`${held}\n`)})
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, duration)
  }).unref()
`
