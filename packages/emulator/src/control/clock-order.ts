/**
 * What `POST /_emulator/clock` takes: back to the machine's time, to a moment, on by so much, still.
 */
import { boolean, checkEach, type Checks } from '../options/checks.ts'
import type { Clock } from '../service/clock.ts'

interface ClockOrder {
  readonly reset?: boolean
  /** Seconds since the epoch, or an ISO date. */
  readonly jump?: number | string
  /** Seconds; negative ones move it back. */
  readonly advance?: number
  readonly frozen?: boolean
}

const fieldChecks: Checks<ClockOrder> = {
  reset: boolean(),
  jump: {
    expected: 'seconds since the epoch or an ISO date',
    accepts: (value): value is number | string => Number.isFinite(momentOf(value)),
  },
  advance: { expected: 'a number of seconds', accepts: (value): value is number => Number.isFinite(value) },
  frozen: boolean(),
}

/** In the order of the fields above. @throws {TypeError} A field is unknown or wrong; nothing has happened. */
export function setClock(clock: Clock, order: object): void {
  checkOrder(order)
  if (order.reset) clock.reset()
  if (order.jump !== undefined) clock.jump(momentOf(order.jump))
  if (order.advance !== undefined) clock.advance(order.advance)
  if (order.frozen === true) clock.freeze()
  if (order.frozen === false) clock.unfreeze()
}

function checkOrder(order: object): asserts order is ClockOrder {
  checkEach('field', '', order, fieldChecks)
}

function momentOf(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' ? Date.parse(value) / 1000 : Number.NaN
}
