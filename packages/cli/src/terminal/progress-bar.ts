/**
 * How far a long piece of work is, on a terminal: a bar, the count, the time left. One line of standard error, redrawn in
 * place and gone at the end; nothing where standard error is piped, nor for work that is done within a second.
 */
import { visible } from '@owner-sso/core'
import { duration } from './wording.ts'

/** Milliseconds of work before the bar is shown, and between two drawings of it. */
const shownAfter = 1000
const drawnEvery = 100

const width = 24

export interface ProgressBar {
  /** One more is done. */
  readonly advance: () => void
  /** Removes the bar; to be called before anything else is printed, also where the work failed. */
  readonly end: () => void
}

/** Where a bar is drawn. */
export type Screen = Pick<NodeJS.WriteStream, 'isTTY' | 'columns' | 'write'>

/**
 * @param what - is being done, such as `Copying`
 * @param total - how many there are; left out where nobody knows: then only the count is shown
 * @param clock - milliseconds
 */
export function progressBar(
  what: string,
  total?: number,
  screen: Screen = process.stderr,
  clock: () => number = () => performance.now(),
): ProgressBar {
  const began = clock()
  let done = 0
  let drawnAt: number | undefined
  const isShown = screen.isTTY && process.env['TERM'] !== 'dumb'
  return {
    advance() {
      done += 1
      const now = clock()
      if (!isShown || now - began < shownAfter || now - (drawnAt ?? 0) < drawnEvery) return
      drawnAt = now
      screen.write(`${toLineStart}${progressLine(what, done, total, now - began).slice(0, screen.columns - 1)}`)
    },
    end() {
      if (drawnAt !== undefined) screen.write(toLineStart)
      drawnAt = undefined
    },
  }
}

/** Back to the first column, and nothing in that line (ECMA-48: EL). */
const toLineStart = '\r\u001b[2K'

/** @param elapsed - milliseconds that it took until now */
export function progressLine(what: string, done: number, total: number | undefined, elapsed: number): string {
  if (total === undefined) return visible(`${what}  ${done}`)
  const filled = Math.floor((width * Math.min(done, total)) / Math.max(total, 1))
  const left = Math.ceil((elapsed / done) * Math.max(total - done, 0) * 0.001)
  return visible(
    `${what}  ${'█'.repeat(filled)}${'░'.repeat(width - filled)}  ${done} of ${total}, ${duration(left)} left`,
  )
}
