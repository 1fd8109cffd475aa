/**
 * The exchanges that the page knows, by login: bounded as the emulator's own journal is, told in batches.
 */
import { signal, type ReadonlySignal } from '@preact/signals'
import type { ExchangeLine } from '../src/inspector/inspector-router.ts'

const maxExchanges = 10_000

/** A login, or (number 0) all requests that belong to none. */
export interface Login {
  readonly number: number
  /** E-mail of its account, once somebody named it. */
  identity: string | undefined
  /** By id; in the order of arrival. */
  readonly exchanges: Map<number, ExchangeLine>
}

export type Logins = ReturnType<typeof createLogins>

export function createLogins() {
  const revision = signal(0)
  const byNumber = new Map<number, Login>()
  const homes = new Map<number, Login>()

  function loginOf({ flow = 0 }: ExchangeLine): Login {
    const known = byNumber.get(flow)
    if (known) return known
    const login: Login = { number: flow, identity: undefined, exchanges: new Map() }
    byNumber.set(flow, login)
    return login
  }

  function remove(id: number): void {
    const login = homes.get(id)
    homes.delete(id)
    login?.exchanges.delete(id)
    if (login?.exchanges.size === 0) byNumber.delete(login.number)
  }

  return {
    /** Changes with every batch: whoever reads `all` or `of` reads it first. */
    revision: revision as ReadonlySignal<number>,
    /** How many exchanges there are. */
    get size(): number {
      return homes.size
    },
    /** The youngest first, the requests without a login last. */
    all: (): readonly Login[] => [...byNumber.values()].toSorted((one, other) => other.number - one.number),
    of: (number: number): Login | undefined => byNumber.get(number),
    apply(batch: readonly ExchangeLine[]): void {
      for (const line of batch) {
        const login = loginOf(line)
        // It belonged to none as long as its body had not been read.
        if (homes.get(line.id) !== login) remove(line.id)
        homes.set(line.id, login)
        login.exchanges.set(line.id, line)
        if (login.number > 0) login.identity = line.identity ?? login.identity
      }
      for (const id of homes.keys()) {
        if (homes.size <= maxExchanges) break
        remove(id)
      }
      revision.value += 1
    },
    clear(): void {
      byNumber.clear()
      homes.clear()
      revision.value += 1
    },
  }
}

/** What a login's line in the list says and shows; `outcome` is that of its last exchange that has one. */
export function summaryOf({ exchanges }: Login) {
  let [faults, challenges, outcome, pending, started] = [0, 0, '', false, 0]
  for (const line of exchanges.values()) {
    started ||= line.started
    if (line.fault !== undefined) faults += 1
    if (line.challenged) challenges += 1
    outcome = line.decision ?? outcome
    pending = line.duration === undefined
  }
  return { count: exchanges.size, started, faults, challenges, outcome, pending }
}

export function nameOf({ number, identity }: Login): string {
  return number === 0 ? 'Requests without a login' : (identity ?? `Login ${number}`)
}
