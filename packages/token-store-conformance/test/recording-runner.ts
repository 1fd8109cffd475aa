/** A runner for the suite that runs its tests at once and tells which failed: what the suite's own tests look at. */
import { tokenStoreConformance, type TokenStoreConformanceOptions } from '../src/index.ts'

/** Names of the rules that ran, and of those that failed with their messages. */
export interface Outcome {
  readonly ran: readonly string[]
  readonly failed: ReadonlyMap<string, string>
}

/** Runs the suite on a store. `only` picks one rule. */
export async function conformance(
  store: Omit<TokenStoreConformanceOptions, 'describe' | 'test'>,
  only?: string,
): Promise<Outcome> {
  const tests: { name: string; body: () => Promise<void> }[] = []
  tokenStoreConformance({
    describe: (_name, body) => body(),
    test: (name, body) => {
      if (only === undefined || only === name) tests.push({ name, body })
    },
    ...store,
  })
  const failed = new Map<string, string>()
  for (const { name, body } of tests) await body().catch((error: unknown) => failed.set(name, String(error)))
  return { ran: tests.map(({ name }) => name), failed }
}
