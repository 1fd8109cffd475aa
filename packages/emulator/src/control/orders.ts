/**
 * What `POST /_emulator/clock` and `/firewall` take, checked before anything happens; the command line sets the clock by it as well.
 */
import { boolean, checkEach, oneOf, seconds, type Check, type Checks } from '../options/checks.ts'
import type { Clock } from '../state/clock.ts'
import type { Firewall } from '../state/firewall.ts'

interface ClockOrder {
  readonly reset?: boolean
  /** Seconds since the epoch, or an ISO date. */
  readonly jump?: number | string
  /** Seconds; negative ones move it back. */
  readonly advance?: number
  readonly frozen?: boolean
}

interface FirewallOrder {
  readonly lift?: true
  /** Seconds, or true: as long as the option `firewall` has it. */
  readonly block?: true | number
}

const clockChecks: Checks<ClockOrder> = {
  reset: boolean(),
  jump: {
    expected: 'seconds since the epoch or an ISO date',
    accepts: (value): value is number | string => Number.isFinite(momentOf(value)),
  },
  advance: { expected: 'a number of seconds', accepts: (value): value is number => Number.isFinite(value) },
  frozen: boolean(),
}

const firewallChecks: Checks<FirewallOrder> = {
  lift: oneOf(true),
  block: {
    expected: 'true or a number of seconds',
    accepts: (value) => value === true || seconds().accepts(value),
  },
}

/** In the order of its fields. @throws {TypeError} A field is unknown or wrong; nothing has happened. */
export function setClock(clock: Clock, order: object): void {
  const { reset, jump, advance, frozen } = checked(order, clockChecks)
  if (reset) clock.reset()
  if (jump !== undefined) clock.jump(momentOf(jump))
  if (advance !== undefined) clock.advance(advance)
  if (frozen === true) clock.freeze()
  if (frozen === false) clock.unfreeze()
}

/** In the order of its fields. @throws {TypeError} A field is unknown or wrong; nothing has happened. */
export function setFirewall(firewall: Firewall, order: object): void {
  const { lift, block } = checked(order, firewallChecks)
  if (lift) firewall.lift()
  if (block !== undefined) firewall.block(block === true ? undefined : block)
}

function checked<Order>(order: object, checks: Checks<Order> & Readonly<Record<string, Check>>): Order {
  checkEach('field', '', order, checks)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each field was checked
  return order as Order
}

function momentOf(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' ? Date.parse(value) / 1000 : Number.NaN
}
