/**
 * The firewall breaker of a fleet: one process meets a challenge page, and all that share the store leave the host alone.
 *
 * What is known stands in a record of its own, one per host. After the wait, one process alone probes: it claims the probe
 * by a swap, as an intent is claimed, and gives it back where nothing was sent. Each further challenge doubles the wait, up to four hours; requests that were under
 * way together meet one.
 */
import { FirewallChallengeError } from '../errors.ts'
import { checkedRecord } from '../store/record-check.ts'
import type { FirewallRecord } from '../store/token-record.ts'
import type { FirewallState, Probe } from '../issuer/firewall-state.ts'
import { isSameWrite, type Write } from '../store/lineage.ts'
import type { GuardedStore } from '../store/guarded-store.ts'
import { firewallRecordName } from '../store/record-names.ts'
import { elapsed, type Instant, instantOf, type Runtime } from '../support/runtime.ts'

/** Seconds. */
const longestWait = 4 * 60 * 60
const probeTime = 60
/** Probes that are tried to be claimed: others keep claiming and ending theirs, or reads lag behind writes. */
const mostClaims = 3

export interface SharedBreaker extends FirewallState {
  /** Reads what the other processes know. `enter` goes by that. */
  sync(authUrl: string): Promise<void>
  /** Whether nobody may send now, by what is known. `enter` claims a probe; this asks. */
  isBlocked(authUrl: string): boolean
  /** Returns when the next attempt is due, in seconds since the epoch. */
  challenged(authUrl: string, error: FirewallChallengeError): Promise<number>
}

interface HostState extends Write {
  readonly record: FirewallRecord
  /** First sight of it, and how old it was then, in milliseconds. */
  readonly seen: Instant
  readonly age: number
  /** The last look that showed it. */
  readonly looked: Instant
  /** This process has claimed the probe by it. */
  readonly isProbe?: boolean
}

const clear: FirewallRecord = {
  schema: 1,
  state: 'firewall',
  challenges: 0,
  noted_at: 0,
  wait: 0,
}

export function createSharedBreaker(store: GuardedStore, runtime: Runtime): SharedBreaker {
  const hosts = new Map<string, HostState>()
  /** Claims of this process that the store did not say it took. */
  const unanswered = new Map<string, string>()

  /**
   * How old a record is, the clock of who wrote it tells; but whoever looked before it was written knows that it came since
   * then, whatever the clocks. A store that went back says nothing of that kind.
   */
  function remember(name: string, { version, writeId }: Write, record: FirewallRecord, looked: Instant): void {
    const before = hosts.get(name)
    const isKnown = before !== undefined && isSameWrite(before, { version, writeId })
    if (isKnown) return void hosts.set(name, { ...before, looked })
    const seen = instantOf(runtime)
    const told = Math.max(0, seen.wall - record.noted_at * 1000)
    const age = before !== undefined && version > before.version ? Math.min(told, elapsed(before.looked, seen)) : told
    hosts.set(name, { version, writeId, record, seen, age, looked })
  }

  async function read(name: string): Promise<void> {
    const looked = instantOf(runtime)
    const stored = await store.read(name)
    if (stored === undefined) remember(name, { version: 0 }, clear, looked)
    else remember(name, stored, checkedRecord(stored, 'firewall').record, looked)
  }

  /** Writes over what is known. False where another process was faster, or the store is down. */
  async function write(
    name: string,
    change: Omit<FirewallRecord, 'schema' | 'state' | 'noted_at'>,
    writeId: string = runtime.uniqueId(),
  ): Promise<boolean> {
    const looked = instantOf(runtime)
    const noted = Math.floor(looked.wall / 1000)
    const record: FirewallRecord = { schema: 1, state: 'firewall', noted_at: noted, ...change }
    const swapped = await store.swap(name, hosts.get(name), record, writeId)
    if ('conflict' in swapped) return false
    remember(name, swapped, record, looked)
    return true
  }

  /**
   * Claims the probe. Where the store does not answer it may have taken the claim, which would hold up everybody for its time:
   * it is told once more, and where it stays silent the next call of this process knows the claim again.
   */
  async function claimProbe(name: string, challenges: number): Promise<boolean> {
    const writeId = runtime.uniqueId()
    const claim = (): Promise<boolean> => write(name, { challenges, wait: probeTime }, writeId)
    unanswered.set(name, writeId)
    const claimed = await claim().catch(claim)
    unanswered.delete(name)
    return claimed
  }

  /** The claim that is known is one that this process was not told of. Only one call has it. */
  function isFoundAgain(name: string, { writeId }: HostState): boolean {
    return writeId !== undefined && writeId === unanswered.get(name) && unanswered.delete(name)
  }

  /** Whether the writer's clock was so far ahead of ours that a process which lives for one call would never see the end. */
  function isFromTheFuture({ record, seen }: HostState): boolean {
    return record.noted_at - seen.wall / 1000 > longestWait
  }

  /** Milliseconds that remain of the wait, from first sight on by the faster clock. */
  function remaining({ record, seen, age }: HostState): number {
    return record.wait * 1000 - age - elapsed(seen, instantOf(runtime))
  }

  /** Given back it is a block whose time is over. Whatever was written since stays. */
  function probeBy(name: string, claim: HostState): Probe {
    hosts.set(name, { ...claim, isProbe: true })
    return {
      async giveBack() {
        const known = hosts.get(name)
        if (known === undefined || !isSameWrite(known, claim)) return
        await write(name, { challenges: claim.record.challenges, wait: 0 }).catch(() => false)
      },
    }
  }

  function blocked(milliseconds: number): FirewallChallengeError {
    const nextAttemptAt = Math.ceil((runtime.wallClock() + milliseconds) / 1000)
    return new FirewallChallengeError(nextAttemptAt, { step: 'token-manager', requestSent: false })
  }

  return {
    async sync(authUrl) {
      await read(firewallRecordName(authUrl))
    },

    isBlocked(authUrl) {
      const known = hosts.get(firewallRecordName(authUrl))
      return known !== undefined && known.record.challenges > 0 && remaining(known) > 0
    },

    async enter(authUrl) {
      const name = firewallRecordName(authUrl)
      for (let claims = 0; claims < mostClaims; claims += 1) {
        const known = hosts.get(name)
        if (known === undefined || known.record.challenges === 0) return undefined
        const left = remaining(known)
        if (left > 0 && isFoundAgain(name, known)) return probeBy(name, known)
        if (left > 0) {
          // Noted again by our clock: nobody waits longer than the service asked for, and nobody sends earlier.
          const again = { challenges: known.record.challenges, wait: Math.ceil(left / 1000) }
          if (isFromTheFuture(known)) await write(name, again).catch(() => false)
          throw blocked(left)
        }
        const claimed = await claimProbe(name, known.record.challenges)
        const claim = hosts.get(name)
        if (claimed && claim !== undefined) return probeBy(name, claim)
        // Another's probe, or its end.
        await read(name)
      }
      throw blocked(probeTime * 1000)
    },

    async challenged(authUrl, { nextAttemptAt, requestSent }) {
      const name = firewallRecordName(authUrl)
      const asked = Math.max(1, nextAttemptAt - runtime.wallClock() / 1000)
      const known = hosts.get(name)
      // Who was sent before the block, and answered in it, met the challenge that began it.
      const isFurther = requestSent && (known === undefined || known.isProbe || remaining(known) <= 0)
      const challenges = (known?.record.challenges ?? 0) + (isFurther ? 1 : 0)
      const doubled = Math.min(asked * 2 ** Math.max(0, challenges - 1), Math.max(asked, longestWait))
      // Nobody sends before the time that others were told.
      const left = known === undefined || known.isProbe ? 0 : remaining(known) / 1000
      const wait = Math.ceil(Math.max(asked, left, doubled * (0.8 + 0.4 * runtime.random())))
      const block = { challenges: Math.max(1, challenges), wait }
      // Where the store is down, this process at least remembers it by itself.
      const written = await write(name, block).catch(() => false)
      if (!written) {
        const { version, writeId }: Write = hosts.get(name) ?? { version: 0 }
        const now = instantOf(runtime)
        const record: FirewallRecord = { schema: 1, state: 'firewall', noted_at: Math.floor(now.wall / 1000), ...block }
        hosts.set(name, { version, writeId, record, seen: now, age: 0, looked: now })
      }
      return Math.ceil(runtime.wallClock() / 1000 + wait)
    },

    async passed(authUrl) {
      const name = firewallRecordName(authUrl)
      const known = hosts.get(name)
      if (known === undefined || known.record.challenges === 0) return
      // Who was sent before the block, and served in it, says nothing of its end: the probe does.
      if (!known.isProbe && remaining(known) > 0) return
      await write(name, { challenges: 0, wait: 0 }).catch(() => false)
    },
  }
}
