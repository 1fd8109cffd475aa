/**
 * One emulator for a test file: started before its tests, as new for each of them, ended after the last.
 */
import type { Emulator } from './switches/emulator.ts'
import { failureOf } from './faults/transform.ts'
import { startEmulator } from './start-emulator.ts'
import type { EmulatorOptions } from './options/check-options.ts'

/** The hooks of a test runner. Jest's globals are found by themselves; any other runner's are handed over. */
export interface TestHooks {
  readonly beforeAll: (run: () => Promise<void>) => unknown
  readonly beforeEach: (run: () => void) => unknown
  /** Left out: a function of `once` or `always` that fails is reported after the last test. */
  readonly afterEach?: ((run: () => void) => unknown) | undefined
  readonly afterAll: (run: () => Promise<void>) => unknown
}

/**
 * An emulator for all tests of this file, or of the `describe` that it is called in. Read it inside tests and hooks alone:
 * it is started by a `beforeAll`. Before each test it is `reset()`: no fault, no block, no used passcode, no count and no
 * log entry of another test. A token set from a `beforeAll` of yours stays good; a fault from there doesn't.
 *
 * @throws {TypeError} An option is wrong, there are no hooks, or the emulator is read before the tests began.
 */
export function useEmulator(options?: EmulatorOptions, hooks: TestHooks = jestHooks()): Emulator {
  let running: Emulator | undefined
  hooks.beforeAll(async () => {
    running = await startEmulator(options)
  })
  hooks.beforeEach(() => running?.reset())
  hooks.afterEach?.(() => {
    const failure = failureOf(running?.failures.splice(0) ?? [])
    if (failure) throw failure
  })
  hooks.afterAll(async () => running?.close())
  return standIn(() => {
    if (!running) throw new TypeError('The emulator starts before the first test: read it inside a test or a hook')
    return running
  })
}

/** Whatever is read of it is the running emulator's, at the moment it is read. */
function standIn(running: () => Emulator): Emulator {
  const target: Emulator = Object.create(null)
  return new Proxy(target, {
    get: (_target, name) => Reflect.get(running(), name),
    has: (_target, name) => Reflect.has(running(), name),
  })
}

function jestHooks(): TestHooks {
  const { beforeAll, beforeEach, afterEach, afterAll }: Partial<TestHooks> = globalThis as object
  if (!beforeAll || !beforeEach || !afterAll) {
    throw new TypeError(
      'useEmulator() found no beforeAll, beforeEach and afterAll: call it in a test file, or hand it the hooks of your runner',
    )
  }
  return { beforeAll, beforeEach, afterEach, afterAll }
}
