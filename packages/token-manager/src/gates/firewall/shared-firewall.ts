/**
 * What a fleet knows of a host's firewall: one process meets a challenge page, and all that share the store leave the host alone.
 *
 * What is known stands in a record of its own, one per host. After the wait, one process alone probes: it claims the probe
 * by a swap, as an intent is claimed, and gives it back where nothing was sent. Each further challenge doubles the wait, up to four hours; requests that were under
 * way together meet one.
 */
import { ClientRejectedError, FirewallChallengeError } from '../../errors.ts'
import { firewallRecordName, readOwnRecord } from '../../store/own-record.ts'
import type { FirewallRecord } from '../../store/token-record.ts'
import type { FirewallState, Probe } from '../../issuer/token-issuer.ts'
import { isSameWrite, type Write } from '../../store/lineage.ts'
import type { GuardedStore } from '../../store/guarded-store.ts'
import { elapsed, type Instant, instantOf, type Runtime } from '../../support/runtime.ts'

/** Seconds. */
const longestWait = 4 * 60 * 60
/** The same for a rejected client, which a person corrects: one request of the whole fleet in this time does no harm. */
const longestRest = 5 * 60
const probeTime = 60
/** A service is heard for a day at the most, and that grows by a fifth: no process of ours writes more. */
const longestBelieved = 2 * 24 * 60 * 60
/** Probes that are tried to be claimed: others keep claiming and ending theirs, or reads lag behind writes. */
const mostClaims = 3

type Challenge = FirewallChallengeError | ClientRejectedError
type Block = Pick<FirewallRecord, 'challenges' | 'wait' | 'because'>

export interface SharedFirewall extends FirewallState {
  /** Reads what the other processes know. `enter` goes by that. */
  sync(authUrl: string): Promise<void>
  /** Whether nobody may send now, by what is known. `enter` claims a probe; this asks. */
  isBlocked(authUrl: string): boolean
  /** Returns when the next attempt is due, in seconds since the epoch. */
  challenged(authUrl: string, error: Challenge): Promise<number>
}

/** What this process has seen of one host's record. */
interface Sight extends Write {
  readonly record: FirewallRecord
  /** First sight of it, and how old it was then, in milliseconds. */
  readonly seen: Instant
  readonly age: number
  /** The last look that showed it. */
  readonly looked: Instant
  /** This process has claimed the probe by it. */
  readonly isProbe?: boolean
}

interface Fleet {
  readonly store: GuardedStore
  readonly runtime: Runtime
  /** Is told once that a client is rejected, in one process of the fleet. */
  readonly onClientRejected: (authUrl: string, error: ClientRejectedError) => void
  readonly hosts: Map<string, Sight>
  /** Claims of this process that the store did not say it took, by their write ids. */
  readonly unanswered: Map<string, string>
}

const clear: FirewallRecord = { schema: 1, state: 'firewall', challenges: 0, noted_at: 0, wait: 0 }

const isBelievable = ({ wait }: FirewallRecord): boolean => wait <= longestBelieved

export function createSharedFirewall(
  store: GuardedStore,
  runtime: Runtime,
  onClientRejected: Fleet['onClientRejected'],
): SharedFirewall {
  const fleet: Fleet = { store, runtime, onClientRejected, hosts: new Map(), unanswered: new Map() }
  return {
    sync: (authUrl) => read(firewallRecordName(authUrl), fleet),
    isBlocked(authUrl) {
      const known = fleet.hosts.get(firewallRecordName(authUrl))
      return known !== undefined && known.record.challenges > 0 && remaining(known, instantOf(runtime)) > 0
    },
    enter: (authUrl) => enter(firewallRecordName(authUrl), fleet),
    challenged: (authUrl, error) => noteChallenge(authUrl, error, fleet),
    passed: (authUrl) => noteAnswer(firewallRecordName(authUrl), fleet),
  }
}

// What is known

/**
 * How old a record is, the clock of who wrote it tells; but whoever looked before it was written knows that it came since
 * then, whatever the clocks. A store that went back says nothing of that kind.
 */
function sightOf(
  { version, writeId }: Write,
  record: FirewallRecord,
  looked: Instant,
  before: Sight | undefined,
  seen: Instant,
): Sight {
  if (before !== undefined && isSameWrite(before, { version, writeId })) return { ...before, looked }
  const told = Math.max(0, seen.wall - record.noted_at * 1000)
  const age = before !== undefined && version > before.version ? Math.min(told, elapsed(before.looked, seen)) : told
  return { version, writeId, record, seen, age, looked }
}

/** Milliseconds that remain of the wait, from first sight on by the faster clock. */
function remaining({ record, seen, age }: Sight, now: Instant): number {
  return record.wait * 1000 - age - elapsed(seen, now)
}

/** Whether the writer's clock was so far ahead of ours that a process which lives for one call would never see the end. */
function isFromTheFuture({ record, seen }: Sight): boolean {
  return record.noted_at - seen.wall / 1000 > longestWait
}

function blockAfter(known: Sight | undefined, error: Challenge, now: Instant, random: number): Block {
  const { nextAttemptAt, requestSent } = error
  const because = error instanceof ClientRejectedError ? 'invalid_client' : undefined
  const asked = Math.max(1, nextAttemptAt - now.wall / 1000)
  // Who was sent before the block, and answered in it, met the challenge that began it.
  const isFurther = requestSent && (known === undefined || known.isProbe || remaining(known, now) <= 0)
  const challenges = (known?.record.challenges ?? 0) + (isFurther ? 1 : 0)
  const doubled = Math.min(
    asked * 2 ** Math.max(0, challenges - 1),
    Math.max(asked, because === undefined ? longestWait : longestRest),
  )
  // Nobody sends before the time that others were told.
  const left = known === undefined || known.isProbe ? 0 : remaining(known, now) / 1000
  const wait = Math.ceil(Math.max(asked, left, doubled * (0.8 + 0.4 * random)))
  return { challenges: Math.max(1, challenges), wait, because }
}

const noted = ({ wall }: Instant, { challenges, wait, because }: Block): FirewallRecord => ({
  schema: 1,
  state: 'firewall',
  noted_at: Math.floor(wall / 1000),
  challenges,
  wait,
  ...(because !== undefined && { because }),
})

// What the store holds

function remember(name: string, at: Write, record: FirewallRecord, looked: Instant, { hosts, runtime }: Fleet): void {
  hosts.set(name, sightOf(at, record, looked, hosts.get(name), instantOf(runtime)))
}

async function read(name: string, fleet: Fleet): Promise<void> {
  const looked = instantOf(fleet.runtime)
  const stored = await readOwnRecord(name, clear, fleet, isBelievable)
  if (stored === undefined) remember(name, { version: 0 }, clear, looked, fleet)
  else remember(name, stored, stored.record, looked, fleet)
}

/** Writes over what is known. False where another process was faster. */
async function write(
  name: string,
  change: Block,
  fleet: Fleet,
  writeId: string = fleet.runtime.uniqueId(),
): Promise<boolean> {
  const looked = instantOf(fleet.runtime)
  const record = noted(looked, change)
  const swapped = await fleet.store.swap(name, fleet.hosts.get(name), record, writeId)
  if ('conflict' in swapped) return false
  remember(name, swapped, record, looked, fleet)
  return true
}

// A request before it is sent

async function enter(name: string, fleet: Fleet): Promise<Probe | undefined> {
  for (let claims = 0; claims < mostClaims; claims += 1) {
    const known = fleet.hosts.get(name)
    if (known === undefined || known.record.challenges === 0) return undefined
    const left = remaining(known, instantOf(fleet.runtime))
    if (left > 0 && isFoundAgain(name, known, fleet)) return probeBy(name, known, fleet)
    if (left > 0) {
      // Noted again by our clock: nobody waits longer than the service asked for, and nobody sends earlier.
      const again = { ...known.record, wait: Math.ceil(left / 1000) }
      if (isFromTheFuture(known)) await write(name, again, fleet).catch(() => false)
      throw blocked(left, known.record, fleet)
    }
    const claimed = await claimProbe(name, known.record, fleet)
    const claim = fleet.hosts.get(name)
    if (claimed && claim !== undefined) return probeBy(name, claim, fleet)
    // Another's probe, or its end.
    await read(name, fleet)
  }
  throw blocked(probeTime * 1000, fleet.hosts.get(name)?.record, fleet)
}

/**
 * Claims the probe. Where the store does not answer it may have taken the claim, which would hold up everybody for its time:
 * it is told once more, and where it stays silent the next call of this process knows the claim again.
 */
async function claimProbe(name: string, block: Block, fleet: Fleet): Promise<boolean> {
  const writeId = fleet.runtime.uniqueId()
  const claim = (): Promise<boolean> => write(name, { ...block, wait: probeTime }, fleet, writeId)
  fleet.unanswered.set(name, writeId)
  const claimed = await claim().catch(claim)
  fleet.unanswered.delete(name)
  return claimed
}

/** The claim that is known is one that this process was not told of. Only one call has it. */
function isFoundAgain(name: string, { writeId }: Sight, { unanswered }: Fleet): boolean {
  return writeId !== undefined && writeId === unanswered.get(name) && unanswered.delete(name)
}

/** Given back it is a block whose time is over. Whatever was written since stays. */
function probeBy(name: string, claim: Sight, fleet: Fleet): Probe {
  fleet.hosts.set(name, { ...claim, isProbe: true })
  return {
    async giveBack() {
      const known = fleet.hosts.get(name)
      if (known === undefined || !isSameWrite(known, claim)) return
      await write(name, { ...claim.record, wait: 0 }, fleet).catch(() => false)
    },
  }
}

function blocked(milliseconds: number, block: Block | undefined, { runtime }: Fleet): Challenge {
  const nextAttemptAt = Math.ceil((runtime.wallClock() + milliseconds) / 1000)
  const KindOfError = block?.because === undefined ? FirewallChallengeError : ClientRejectedError
  return new KindOfError(nextAttemptAt, { step: 'token-manager', requestSent: false })
}

// A request that was answered

async function noteChallenge(authUrl: string, error: Challenge, fleet: Fleet): Promise<number> {
  const { hosts, runtime } = fleet
  const name = firewallRecordName(authUrl)
  const before = hosts.get(name)?.record
  const block = blockAfter(hosts.get(name), error, instantOf(runtime), runtime.random())
  // Where the store is down, this process at least remembers it by itself.
  const isWritten = await write(name, block, fleet).catch(() => undefined)
  if (isWritten !== true) {
    const { version, writeId }: Write = hosts.get(name) ?? { version: 0 }
    const now = instantOf(runtime)
    hosts.set(name, { version, writeId, record: noted(now, block), seen: now, age: 0, looked: now })
  }
  const nextAttemptAt = Math.ceil(runtime.wallClock() / 1000 + block.wait)
  // Where another process was faster, it tells.
  const isNews = error instanceof ClientRejectedError && before?.because === undefined && isWritten !== false
  if (isNews) fleet.onClientRejected(authUrl, new ClientRejectedError(nextAttemptAt, error))
  return nextAttemptAt
}

async function noteAnswer(name: string, fleet: Fleet): Promise<void> {
  const known = fleet.hosts.get(name)
  if (known === undefined || known.record.challenges === 0) return
  // Who was sent before the block, and served in it, says nothing of its end: the probe does.
  if (!known.isProbe && remaining(known, instantOf(fleet.runtime)) > 0) return
  await write(name, { challenges: 0, wait: 0 }, fleet).catch(() => false)
}
