/**
 * When each client last called, from where, and how often: kept in memory, and written from time to time in one go, so that
 * no call waits for it. What a process had not written when it died is lost.
 */
import type { Notebook, Notes } from '@owner-sso/core'
import type { ListedClient } from './client.ts'

/** What is told of a client's calls. */
export type ClientUse = Required<Pick<ListedClient, 'calls' | 'last_used_at' | 'last_address'>>

export interface ClientUses {
  readonly note: (name: string, address: string) => void
  /** Those of all processes, as far as they are written, by the client's name. */
  readonly read: () => Promise<ReadonlyMap<string, ClientUse>>
  /** Adds what this process counted. @throws ClientsError, StoreError; nothing is lost, and the next time tries again */
  readonly write: () => Promise<void>
  readonly stop: () => void
}

/** Milliseconds between two writes. */
const interval = 60_000

/** @param isKnown - whether a client of that name still is one: others are forgotten */
export function clientUses(notes: Notebook, isKnown: () => Promise<(name: string) => boolean>): ClientUses {
  let counted = new Map<string, ClientUse>()
  let timer: NodeJS.Timeout | undefined

  const write = async (): Promise<void> => {
    timer = undefined
    if (counted.size === 0) return
    const known = await isKnown()
    const added = counted
    counted = new Map()
    try {
      await notes.change((written) =>
        Object.fromEntries([...sumOf(usesIn(written), added)].filter(([name]) => known(name))),
      )
    } catch (error) {
      counted = sumOf(added, counted)
      throw error
    }
  }

  return {
    note(name, last_address) {
      const calls = (counted.get(name)?.calls ?? 0) + 1
      counted.set(name, { calls, last_used_at: Math.floor(Date.now() / 1000), last_address })
      // A count is worth no warning: the next call begins another try.
      timer ??= setTimeout(() => void write().catch(() => undefined), interval).unref()
    },
    read: async () => usesIn(await notes.read()),
    write,
    stop() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}

/** Whoever called later knows the address. */
function sumOf(one: ReadonlyMap<string, ClientUse>, other: ReadonlyMap<string, ClientUse>): Map<string, ClientUse> {
  const sum = new Map(one)
  for (const [name, use] of other) {
    const before = sum.get(name)
    const later = before !== undefined && before.last_used_at > use.last_used_at ? before : use
    sum.set(name, { ...later, calls: use.calls + (before?.calls ?? 0) })
  }
  return sum
}

/** What can't be understood counts from nought. */
function usesIn(notes: Notes): ReadonlyMap<string, ClientUse> {
  const isUse = (entry: [string, unknown]): entry is [string, ClientUse] => {
    const { calls, last_used_at, last_address }: Partial<Record<keyof ClientUse, unknown>> = Object(entry[1])
    return Number.isSafeInteger(calls) && Number.isSafeInteger(last_used_at) && typeof last_address === 'string'
  }
  return new Map(Object.entries(notes).filter(isUse))
}
