/** SPIN: makes a program of a model, which looks at every state, and reads what that says. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describeWithPrograms } from '../../support/programs.ts'

const run = promisify(execFile)
const modelFolder = fileURLToPath(new URL('..', import.meta.url))

export const describeWithSpin = describeWithPrograms('spin', 'cc')

export interface Verifier extends Disposable {
  /** The program's folder, for files of its own. */
  readonly folder: string
  explore(environment?: NodeJS.ProcessEnv): Promise<Exploration>
}

export interface Exploration {
  /** What SPIN found first: a harm by its name, `invalid end state`, `end state in claim reached`; nothing where all is well. */
  readonly found: string | undefined
  /** Whether it came to the end of all states. */
  readonly whole: boolean
  readonly states: number
  /** Whether it wrote down how it came there. */
  readonly hasTrail: boolean
}

interface Build {
  /** `-D` of the model, such as `CRASHES=1`. */
  readonly world?: readonly string[]
  /** Of the C compiler. It is not asked to optimise: that takes it longer than the faster program saves. */
  readonly cc?: readonly string[]
}

/** @param model - its file, in the folder of this package */
export async function verifierOf(model: string, { world = [], cc = ['-DSAFETY'] }: Build = {}): Promise<Verifier> {
  const folder = mkdtempSync(join(tmpdir(), 'owner-sso-model-'))
  const at = { cwd: folder, timeout: 120_000, maxBuffer: 2 ** 26 }
  await run('spin', [...world.map((name) => `-D${name}`), '-a', join(modelFolder, model)], at)
  const follower = model === 'trace.pml' ? [join(modelFolder, 'follow.c')] : []
  await run('cc', ['-w', '-DCOLLAPSE', ...cc, '-o', 'pan', 'pan.c', ...follower], at)
  return {
    folder,
    async explore(environment) {
      const looksForCycles = cc.includes('-DNP') ? ['-l'] : []
      const { stdout } = await run(join(folder, 'pan'), ['-m200000', '-w21', ...looksForCycles], {
        ...at,
        env: { ...process.env, ...environment },
      })
      return {
        found: /^pan:1: (?:assertion violated +!\((?<harm>\w+)\)|(?<other>.*?) \(at depth)/mu
          .exec(stdout)
          ?.slice(1)
          .find((text) => text !== undefined),
        whole: /errors: 0$/mu.test(stdout) && !/max search depth too small|Search not completed/u.test(stdout),
        states: Number(/(?<states>\d+) states, stored/u.exec(stdout)?.groups?.['states']),
        hasTrail: existsSync(join(folder, `${model}.trail`)),
      }
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}
