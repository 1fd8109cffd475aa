/**
 * What there is to see, once a second: read from the store, and counted by the service itself.
 */
import type { Emulator } from '@owner-sso/emulator'
import type { Fleet } from './fleet.ts'
import type { WorkerReport } from './messages.ts'

/** Seconds that the chart shows. */
const span = 60

export interface AccountView {
  readonly name: string
  /** Seconds that the access token has left; 0 or less: it is over. */
  readonly left: number
}

export interface Second {
  /** Refresh requests that the service looked at. */
  readonly refreshes: number
  /** Requests that the firewall answered with a challenge. */
  readonly challenges: number
}

export interface Snapshot {
  readonly used: readonly AccountView[]
  readonly unused: readonly AccountView[]
  /** The last minute, oldest first. */
  readonly seconds: readonly Second[]
  /** Since the start. */
  readonly challenges: number
  /** Seconds for which the firewall still blocks the fleet; 0: it doesn't. */
  readonly blockedFor: number
  readonly hasBudget: boolean
  readonly workers: readonly {
    readonly pid: number | undefined
    readonly restarts: number
    readonly report: WorkerReport | undefined
  }[]
}

export interface Monitor {
  readonly snapshot: () => Promise<Snapshot>
  /** Told once a second. Returns how to end that. */
  readonly watch: (listener: (snapshot: Snapshot) => void) => () => void
  readonly close: () => void
}

export function startMonitor(fleet: Fleet, emulator: Emulator): Monitor {
  const listeners = new Set<(snapshot: Snapshot) => void>()
  let seconds: readonly Second[] = Array.from({ length: span }, () => ({ refreshes: 0, challenges: 0 }))
  let before = { ...emulator.counters }

  async function viewOf(name: string): Promise<AccountView> {
    const { state, expires_at = 0 } = await fleet.tokens.status(name)
    const left = expires_at - emulator.clock.now()
    return { name, left: state === 'reauthentication-required' ? 0 : left }
  }

  async function snapshot(): Promise<Snapshot> {
    const [used, unused] = await Promise.all([
      Promise.all(fleet.used.map(viewOf)),
      Promise.all(fleet.unused.map(viewOf)),
    ])
    const blockedUntil = emulator.firewall.clients().map((client) => client.blockedUntil ?? 0)
    return {
      used,
      unused,
      seconds,
      challenges: emulator.counters.challenges,
      blockedFor: Math.max(0, ...blockedUntil.map((until) => until - emulator.clock.now())),
      hasBudget: fleet.hasBudget(),
      workers: fleet.workers.map((worker) => ({
        pid: worker.pid(),
        restarts: worker.restarts(),
        report: worker.report(),
      })),
    }
  }

  async function tick(): Promise<void> {
    const { refreshRequests, challenges } = emulator.counters
    const second = { refreshes: refreshRequests - before.refreshRequests, challenges: challenges - before.challenges }
    seconds = [...seconds.slice(1), second]
    before = { ...emulator.counters }
    if (listeners.size === 0) return
    const seen = await snapshot()
    for (const listener of listeners) listener(seen)
  }

  const ticks = setInterval(() => void tick().catch(() => undefined), 1000)
  return {
    snapshot,
    watch(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: () => clearInterval(ticks),
  }
}
