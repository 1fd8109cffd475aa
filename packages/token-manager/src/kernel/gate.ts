/**
 * The gate: whoever has a say in whether a request may go to a host, and hears how it ended. The kernel asks all of them, in
 * their order, before it swaps an intent in, and knows none by name.
 */
import type { FirewallChallengeError } from '../errors.ts'
import type { Account } from './account-memory.ts'

export interface Entry {
  readonly account: Account
  readonly authUrl: string
  /** What was read ahead may be older than the record. */
  readonly isOutdated: boolean
}

export interface Pass {
  use?(): void
  /** Right before it is written: false where nothing may be sent any more. */
  isGood?(): boolean
  /** What was made of it has ended. */
  end?(): void
  passed?(): Promise<void>
  /** A firewall's page came. Returns when the next attempt is due, in seconds since the epoch. */
  challenged?(error: FirewallChallengeError): Promise<number>
  /** Nothing was sent: whoever comes next may. */
  giveBack?(): Promise<void> | void
}

export interface Gate {
  /** Reads what other processes know, beside a look at the record. */
  ahead?(authUrl: string): Promise<void>
  /** Whether it lets nobody through now: then it is asked first, so that nothing is taken of the others. */
  isShut?(authUrl: string): boolean
  /** `waited`: it took a while, in which the record may have changed. @throws where nothing may be sent now */
  enter(entry: Entry): Promise<Pass | 'waited'>
  /** Somebody waits for the account's refresh now, who did not when it was begun. */
  hurry?(account: Account): void
  leave?(account: Account): void
}

export interface Gates extends Required<Omit<Gate, 'isShut' | 'enter'>> {
  enter(entry: Entry): Promise<Required<Pass> | 'waited'>
}

export function gatesOf(gates: readonly Gate[]): Gates {
  const ahead = all(gates.map((gate) => async (authUrl: string) => gate.ahead?.(authUrl)))
  return {
    ahead,
    async enter(entry) {
      const { authUrl, isOutdated } = entry
      if (isOutdated) await ahead(authUrl)
      const isShut = (gate: Gate): boolean => gate.isShut?.(authUrl) === true
      const passes: Pass[] = []
      let isThrough = false
      try {
        for (const gate of gates.toSorted((one, other) => Number(isShut(other)) - Number(isShut(one)))) {
          const pass = await gate.enter(entry)
          if (pass === 'waited') return pass
          passes.push(pass)
        }
        isThrough = true
        return allOf(passes)
      } finally {
        if (!isThrough) await allOf(passes).giveBack()
      }
    },
    hurry: (account) => gates.forEach((gate) => gate.hurry?.(account)),
    leave: (account) => gates.forEach((gate) => gate.leave?.(account)),
  }
}

function allOf(passes: readonly Pass[]): Required<Pass> {
  const whenDue = passes.map((pass) => async (error: FirewallChallengeError) => pass.challenged?.(error) ?? 0)
  return {
    use: () => passes.forEach((pass) => pass.use?.()),
    // Each is asked: what it says is noted there.
    isGood: () => passes.filter((pass) => pass.isGood?.() === false).length === 0,
    end: () => passes.forEach((pass) => pass.end?.()),
    passed: all(passes.map((pass) => async () => pass.passed?.())),
    challenged: async (page) => Math.max(page.nextAttemptAt, ...(await Promise.all(whenDue.map((tell) => tell(page))))),
    giveBack: all(passes.map((pass) => async () => pass.giveBack?.())),
  }
}

const all =
  <Args extends readonly unknown[]>(calls: readonly ((...args: Args) => Promise<void>)[]) =>
  async (...args: Args): Promise<void> =>
    void (await Promise.all(calls.map((call) => call(...args))))
