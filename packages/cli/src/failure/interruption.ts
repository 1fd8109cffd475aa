/**
 * Ctrl-C and its relatives: a call that was told to stop ends what it has begun, then exits as shells expect.
 */

const signals = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const

const controller = new AbortController()
let exitCode: number | undefined

/** Aborted when the process was told to stop: prompts close, waits and logins end, a refresh under way does not. */
export const stopped: AbortSignal = controller.signal

export function interruptedExitCode(): number | undefined {
  return exitCode
}

/** Says that the process was told to stop. The first reason stays. */
export function interrupt(code = 130): void {
  exitCode ??= code
  controller.abort()
}

/**
 * Listens from now on. A second Ctrl-C changes nothing: what is being ended takes its time, at most 30 seconds. Ctrl-D closes
 * a prompt without an answer: then nothing is left to wait for, though the call has not ended.
 */
export function listenForSignals(): void {
  for (const [signal, code] of signals) process.on(signal, () => interrupt(code))
  process.once('beforeExit', () => interrupt())
}

export async function untilStopped(): Promise<void> {
  if (stopped.aborted) return
  await new Promise((resolve) => stopped.addEventListener('abort', resolve, { once: true }))
}
