/** Waits for what no event tells. */
import { setTimeout as pause } from 'node:timers/promises'

/** Resolves once `condition` holds. @throws Error after 20 seconds */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 20_000
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`Never came true: ${condition.toString()}`)
    await pause(20)
  }
}
