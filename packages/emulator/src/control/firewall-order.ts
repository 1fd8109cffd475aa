/**
 * What `POST /_emulator/firewall` takes: block everybody now, or forgive everybody.
 */
import { checkEach, oneOf, seconds, type Checks } from '../options/checks.ts'
import type { Firewall } from '../service/firewall.ts'

interface FirewallOrder {
  readonly lift?: true
  /** Seconds, or true: as long as the option `firewall` has it. */
  readonly block?: true | number
}

const fieldChecks: Checks<FirewallOrder> = {
  lift: oneOf(true),
  block: {
    expected: 'true or a number of seconds',
    accepts: (value) => value === true || seconds().accepts(value),
  },
}

/** In the order of the fields above. @throws {TypeError} A field is unknown or wrong; nothing has happened. */
export function setFirewall(firewall: Firewall, order: FirewallOrder): void {
  checkEach('field', '', order, fieldChecks)
  if (order.lift) firewall.lift()
  if (order.block !== undefined) firewall.block(order.block === true ? undefined : order.block)
}
