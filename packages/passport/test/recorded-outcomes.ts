/** One request to a strategy, as Passport makes it, with every outcome recorded. */
import { setImmediate } from 'node:timers/promises'
import express, { type Request } from 'express'
import type { OwnerSsoStrategy } from '../src/index.ts'

export interface RecordedOutcome {
  readonly kind: 'success' | 'fail' | 'redirect' | 'pass' | 'error'
  readonly given: readonly unknown[]
}

/** Calls `authenticate` on `Object.create(strategy)` and waits for its outcome, and a little for a second one. */
export async function recordedOutcomes(
  strategy: OwnerSsoStrategy,
  request: Request,
  options: object = {},
): Promise<readonly RecordedOutcome[]> {
  const outcomes: RecordedOutcome[] = []
  await new Promise<void>((resolve) => {
    const record =
      (kind: RecordedOutcome['kind']) =>
      (...given: unknown[]): void => {
        outcomes.push({ kind, given })
        resolve()
      }
    const running: OwnerSsoStrategy = Object.assign(Object.create(strategy), {
      success: record('success'),
      fail: record('fail'),
      redirect: record('redirect'),
      pass: record('pass'),
      error: record('error'),
    })
    running.authenticate(request, options)
  })
  for (let turn = 0; turn < 5; turn++) await setImmediate()
  return outcomes
}

/** A request with a body that nobody has checked, and a session unless it says otherwise. */
export function requestWith(body: unknown, session: object | null = newSession()): Request {
  return Object.assign(Object.create(express.request), session ? { body, session } : { body })
}

/** The least that Passport wants of a session. */
export function newSession(): object {
  return { regenerate: (done: () => void) => done(), save: (done: () => void) => done() }
}
