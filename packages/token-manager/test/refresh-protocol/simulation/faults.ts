/**
 * The machine with one of its rules taken out, each with a world in which that does harm and the harm that the judge must
 * notice. A fault is a function around the machine: it changes what is told to it, what it knows, or what it does next.
 */
import { RefreshInDoubtError, type SsoError, UnreachableError } from '../../../src/errors.ts'
import { hostOf, intentOf, type Knowledge, type Moment, openIntent, writeOf } from '../../../src/kernel/knowledge.ts'
import { sessionOf } from '../../../src/store/lineage.ts'
import { type Gates, gatesOf } from '../../../src/kernel/gate.ts'
import { type Machine, machine } from '../../../src/kernel/machine.ts'
import { outcomeOfFailure } from '../../../src/kernel/outcome.ts'
import { inDoubt } from '../../../src/kernel/pace.ts'
import type { Event, Flow, Read, Step, Swap, Task } from '../../../src/kernel/steps.ts'
import type { AccountRecord, Intent, SignedIn } from '../../../src/store/token-record.ts'
import { start } from './clocks.ts'
import type { Scenario } from './scenario.ts'
import { grace } from './service.ts'

export interface Fault {
  readonly takenOut: string
  readonly machine: Machine
  readonly compose?: Scenario['compose']
  /** What goes wrong in the world, for the harm to show. */
  readonly world: Partial<Scenario>
  readonly harm: string
}

/** What is told is another thing. */
const told = (change: (event: Event, known: Knowledge) => Event): Machine => ({
  ...machine,
  step: (known, event, now) => machine.step(known, change(event, known), now),
})

/** The present is another one. */
const at = (change: (now: Moment) => Moment): Machine => ({
  step: (known, event, now) => machine.step(known, event, change(now)),
  maySend: (known, request, now) => machine.maySend(known, request, change(now)),
})

/** What follows is another thing. */
const afterwards = (change: (step: Step, event: Event, now: Moment) => Step): Machine => ({
  ...machine,
  step: (known, event, now) => change(machine.step(known, event, now), event, now),
})

const known = (change: (knowledge: Knowledge, now: Moment) => Partial<Knowledge>): Machine =>
  afterwards((step, _event, now) => ({ ...step, knowledge: { ...step.knowledge, ...change(step.knowledge, now) } }))

const next = (change: (task: Task, step: Step, event: Event) => Task | undefined): Machine =>
  afterwards((step, event) =>
    step.next.do === 'end' ? step : { ...step, next: change(step.next, step, event) ?? step.next },
  )

/** Sends, whatever the look led to. */
function sent(step: Step, flow: Flow, replay: boolean): Step {
  const host = hostOf(step.knowledge)
  if (host === undefined) return step
  const upon = writeOf(step.knowledge)
  return { ...step, next: { do: 'enter', flow, host, upon, replay } }
}

const withIntent = (record: AccountRecord, change: (intent: Intent) => Intent): AccountRecord =>
  record.state === 'signed-in' && record.intent !== undefined ? { ...record, intent: change(record.intent) } : record

const readAs = (change: (record: AccountRecord) => AccountRecord): Machine =>
  told((event) =>
    event.on === 'read' && event.task.to === 'decide' && event.stored !== undefined
      ? { ...event, stored: { ...event.stored, record: change(event.stored.record) } }
      : event,
  )

const answeredAs = (kind: string, error: (error: SsoError) => Error): Machine =>
  told((event) =>
    event.on === 'answered' && event.outcome.kind === kind && event.outcome.kind !== 'tokens'
      ? { ...event, outcome: outcomeOfFailure(error(event.outcome.error)) }
      : event,
  )

/** A process that puts its own record back over another's sign-in, where something else than ancestry says so. */
const withoutAncestry = (isNewer: (known: SignedIn, stored: SignedIn) => boolean): Machine => ({
  ...machine,
  step(knowledge, event, now) {
    const mine = knowledge.record
    const stored = event.on === 'read' ? event.stored : undefined
    const isOther =
      event.on === 'read' &&
      event.task.to === 'decide' &&
      mine?.state === 'signed-in' &&
      stored?.record.state === 'signed-in' &&
      sessionOf(mine) !== sessionOf(stored.record) &&
      isNewer(mine, stored.record)
    if (!isOther || mine === undefined) return machine.step(knowledge, event, now)
    return { knowledge, notices: [], next: restorationOf(event.task, stored, mine) }
  },
})

const restorationOf = (look: Read, over: Swap['over'], record: AccountRecord): Swap => ({
  do: 'swap',
  flow: look.flow,
  over,
  record,
  writeId: undefined,
  purpose: { of: 'restoration', knew: record },
})

/** A result that meets something newer is written all the same. */
const savingBlindly = afterwards((step, event) => {
  const isNewer = step.notices.some(({ tell }) => tell === 'superseded')
  if (!isNewer || event.on !== 'read' || typeof event.task.to !== 'object') return step
  const { flow, to: commit } = event.task
  const { writeId } = commit
  const over = event.stored
  const record = commit.result.next
  return {
    ...step,
    notices: [],
    next: { do: 'swap', flow, over, record, writeId, purpose: { of: 'commit', commit } },
  }
})

/** The gates are others. */
const gates =
  (change: (gates: Gates) => Partial<Gates>): Fault['compose'] =>
  (all) => {
    const composed = gatesOf(all)
    return { ...composed, ...change(composed) }
  }

/** Who met a firewall's page does not wait until that is told before it takes its intent out. */
const notWaitingForTheBlock = gates(({ enter }) => ({
  async enter(entry) {
    const pass = await enter(entry)
    if (pass === 'waited') return pass
    return {
      ...pass,
      async challenged(error) {
        void pass.challenged(error)
        return error.nextAttemptAt
      },
    }
  },
}))

const day = 86_400_000
const skews = [600_000, -600_000]
const inGrace = { processes: 1, lostReplies: 1, token: 'ageing', rotation: 'brief', rotationGrace: grace } as const
const isIntent = (task: Task): task is Swap => task.do === 'swap' && task.purpose.of === 'intent'

export const faults: readonly Fault[] = [
  {
    takenOut: 'the intent',
    machine: next((task) =>
      isIntent(task) && task.purpose.of === 'intent'
        ? { ...task, record: task.purpose.request.derivedFrom }
        : undefined,
    ),
    world: {},
    harm: 'two requests for one expiry',
  },
  {
    takenOut: 'another look after a conflict: the intent goes over whatever stands there',
    machine: afterwards((step, event) => {
      if (event.on !== 'conflict' || !isIntent(event.task)) return step
      return { ...step, next: { ...event.task, over: { version: (event.task.over?.version ?? 0) + 1 } } }
    }),
    world: {},
    harm: 'newer tokens were overwritten by older ones',
  },
  {
    takenOut: 'waiting for another process: refreshing instead',
    machine: afterwards((step) => (step.next.do === 'watch' ? sent(step, step.next.flow, false) : step)),
    world: {},
    harm: 'two requests for one expiry',
  },
  {
    takenOut: 'deferring while in doubt',
    machine: afterwards((step, event) => {
      const isDeferred = step.next.do === 'end' && step.next.error instanceof RefreshInDoubtError
      return isDeferred && event.on === 'read' ? sent(step, event.task.flow, true) : step
    }),
    world: { token: 'ageing', lostReplies: 1 },
    harm: 'a replay although the access token works',
  },
  {
    takenOut: 'the send guard',
    machine: { ...machine, maySend: () => true },
    world: { pauses: 1 },
    harm: 'more replays than lost answers',
  },
  {
    takenOut: 'the lineage rule: a result only over the very version it was derived from',
    machine: told((event) =>
      event.on === 'conflict' && event.task.purpose.of === 'commit'
        ? { ...event, on: 'swapped', write: { version: (event.task.over?.version ?? 0) + 1 } }
        : event,
    ),
    world: { pauses: 1 },
    harm: 'a late success was thrown away',
  },
  {
    takenOut: 'the lineage rule: a blind save',
    machine: savingBlindly,
    world: { signIns: 1 },
    harm: 'a newer sign-in or sign-out was overwritten',
  },
  {
    takenOut: 'the lineage rule: a blind save over a tombstone',
    machine: savingBlindly,
    world: { signOuts: 1 },
    harm: 'a sign-out was undone',
  },
  {
    takenOut: "the intent's end of life",
    machine: afterwards((step, _event, now) => {
      const isReplay = step.next.do === 'enter' && step.next.replay
      if (!isReplay || openIntent(step.knowledge)?.answerLost === true) return step
      const knowledge = { ...step.knowledge, isRefreshing: false }
      return { ...step, knowledge, next: { do: 'end', error: inDoubt(knowledge, now) } }
    }),
    world: { crashes: 1 },
    harm: 'the store holds a dead refresh token',
  },
  {
    takenOut: 'the second look, before a refresh token that is brought along is stored',
    machine: told((event) =>
      event.on === 'read' && event.task.flow.kind === 'sign-in'
        ? { ...event, task: { ...event.task, flow: { ...event.task.flow, replaces: true } } }
        : event,
    ),
    world: { imports: 1, signIns: 1, signOuts: 1, calls: 0 },
    harm: 'a session was ended by a refresh token that was brought along',
  },
  {
    takenOut: 'heed of an answer given up',
    machine: readAs((record) => withIntent(record, ({ answerLost: _given, ...intent }) => intent)),
    world: { lostReplies: 1 },
    harm: 'a process waits for an answer that was given up',
  },
  {
    takenOut: 'the repetition of a commit, beyond the second',
    machine: afterwards((step, event) =>
      event.on === 'failed' && step.next.do === 'pause' && event.task.flow.kind === 'save'
        ? { ...step, next: { do: 'end', error: undefined } }
        : step,
    ),
    world: { storeFailures: 3, ticks: 1 },
    harm: 'a late success was thrown away',
  },
  {
    takenOut: 'the doubt of before, where a replay is withdrawn',
    machine: next((task) => {
      if (task.do !== 'swap' || task.purpose.of !== 'end-of-intent' || task.purpose.outcome.kind !== 'unspent')
        return undefined
      const { intent: _doubt, ...record } = task.record as SignedIn
      return { ...task, record }
    }),
    world: { lostReplies: 1, unreachables: 1, calls: 2 },
    harm: 'a lost answer was told as a plain refusal',
  },
  {
    takenOut: 'the block before the intent',
    machine,
    compose: notWaitingForTheBlock,
    world: { blocks: 1, firewall: true },
    harm: 'a request while the firewall is known to block',
  },
  {
    takenOut: 'the memory of an intent that was spent',
    machine: known(({ ownIntents }) => ({ ownIntents: ownIntents.map((own) => ({ ...own, spent: false })) })),
    world: { lostReplies: 1, storeFailures: 1, calls: 2 },
    harm: 'a lost answer was told as a plain refusal',
  },
  {
    takenOut: 'the reason of a refusal after a lost answer',
    machine: next((task) =>
      task.do === 'swap' && task.record.state === 'reauthentication-required'
        ? { ...task, record: { ...task.record, reason: 'refresh_token_rejected' } }
        : undefined,
    ),
    world: { lostReplies: 1, calls: 2 },
    harm: 'a lost answer was told as a plain refusal',
  },
  {
    takenOut: 'the wall clock in what may have passed',
    machine: at((now) => ({ ...now, wall: start + now.monotonic - 1_000_000 * (now.holder.pid + 1) })),
    world: { sleeps: 1 },
    harm: 'more replays than lost answers',
  },
  {
    takenOut: 'the monotonic clock in what may have passed',
    machine: at((now) => ({ ...now, monotonic: now.wall })),
    world: { pauses: 1, jumps: 1, jumpBy: [-day] },
    harm: 'two refreshes within a minute',
  },
  {
    takenOut: 'the monotonic clock in the life of an intent',
    machine: afterwards((step, _event, now) => {
      const { next: task, knowledge } = step
      const isOld = now.wall - (intentOf(knowledge.record)?.at ?? 0) * 1000 > 45_000
      return task.do === 'watch' && isOld ? sent(step, task.flow, true) : step
    }),
    world: { skews },
    harm: 'two requests for one expiry',
  },
  {
    takenOut: 'the memory of own intents',
    machine: known(() => ({ ownIntents: [] })),
    world: { storeFailures: 1, calls: 2 },
    harm: 'a process waits for itself',
  },
  {
    takenOut: 'the memory of all own intents but the last',
    machine: known(({ ownIntents }) => ({ ownIntents: ownIntents.slice(-1) })),
    world: { storeFailures: 2, calls: 3 },
    harm: 'a process waits for itself',
  },
  {
    takenOut: 'the end of an own intent whose answer was lost',
    machine: next((task, { knowledge }) => {
      const isOwn = knowledge.ownIntents.some(({ id, spent }) => spent && id === intentOf(knowledge.record)?.id)
      const isGivenUp = intentOf(knowledge.record)?.answerLost === true
      return task.do === 'enter' && isOwn && !isGivenUp ? { do: 'watch', flow: task.flow } : undefined
    }),
    world: { lostReplies: 1, storeFailures: 1, calls: 2 },
    harm: 'a process waits for itself',
  },
  {
    takenOut: 'the number of a replay',
    machine: next((task) => {
      if (!isIntent(task) || task.purpose.of !== 'intent') return undefined
      const { request } = task.purpose
      const intent = { ...request.intent, replay: 0 }
      const purpose = { of: 'intent', request: { ...request, intent } } as const
      return { ...task, record: withIntent(task.record, () => intent), purpose }
    }),
    world: { lostReplies: 2, calls: 3 },
    harm: 'replays without a rest between them',
  },
  {
    takenOut: 'the rest between two replays',
    machine: at((now) => ({ ...now, settings: { ...now.settings, minRefreshInterval: 0 } })),
    world: { lostReplies: 2, calls: 3 },
    harm: 'replays without a rest between them',
  },
  {
    takenOut: 'the rest after a failure',
    machine: known(() => ({ backOff: undefined })),
    world: { unreachables: 2, calls: 2 },
    harm: 'no rest after a failure',
  },
  {
    takenOut: 'the second look at the firewall, where the record has changed beside the first',
    machine,
    compose: gates(({ enter }) => ({ enter: (entry) => enter({ ...entry, isOutdated: false }) })),
    world: { blocks: 1, firewall: true },
    harm: 'a request while the firewall is known to block',
  },
  {
    takenOut: 'the look at what changed since the decision',
    machine: told((event, knowledge) =>
      event.on === 'entered' ? { ...event, task: { ...event.task, upon: writeOf(knowledge) } } : event,
    ),
    world: { blocks: 1, firewall: true, looks: 1 },
    harm: 'a request while the firewall is known to block',
  },
  {
    takenOut: 'the least interval between two refreshes',
    machine: at((now) => ({ ...now, settings: { ...now.settings, minRefreshInterval: 0 } })),
    world: { refreshes: 2 },
    harm: 'two refreshes within a minute',
  },
  {
    takenOut: 'heed of a call that wants another token',
    machine: known(() => ({ toReplace: undefined })),
    world: { refreshes: 1, token: 'fresh' },
    harm: 'refresh() changed nothing',
  },
  {
    takenOut: 'the end of the answer at hand, once it was refused',
    machine: known(() => ({ invalidated: undefined })),
    world: { refusals: 1, token: 'ageing', calls: 3 },
    harm: 'a refused access token was handed out again',
  },
  {
    takenOut: 'the difference between a lost answer and a request that was not sent',
    machine: answeredAs('in-doubt', () => new UnreachableError('simulated', { requestSent: false })),
    world: { lostReplies: 1, token: 'ageing', calls: 2 },
    harm: 'a lost answer was told as a plain refusal',
  },
  {
    takenOut: 'the difference between a request that was not sent and a lost answer',
    machine: answeredAs('unspent', () => new UnreachableError('simulated', { requestSent: true })),
    world: { unreachables: 1, calls: 2 },
    harm: 'a refresh is in doubt without a reason',
  },
  {
    takenOut: 'the difference between a block and a lost answer',
    machine: answeredAs('challenged', () => new UnreachableError('simulated', { requestSent: true })),
    world: { blocks: 1, firewall: true, calls: 2 },
    harm: 'a refresh is in doubt without a reason',
  },
  {
    takenOut: 'the first sight of an intent',
    machine: known(({ intentSeen }, { wall, monotonic }) => ({
      intentSeen: intentSeen && { ...intentSeen, at: { wall, monotonic } },
    })),
    world: { crashes: 1 },
    harm: 'the store holds a dead refresh token',
  },
  {
    takenOut: 'the leaving of refreshes to others',
    machine: at((now) => ({ ...now, settings: { ...now.settings, refreshesElsewhere: false } })),
    world: { elsewhere: [0] },
    harm: 'a request of a process that leaves refreshes to others',
  },
  {
    takenOut: 'the name of the write that a swap expects',
    machine: next((task) =>
      task.do === 'swap' && task.over !== undefined ? { ...task, over: { version: task.over.version } } : undefined,
    ),
    world: { emptyings: 1, signIns: 1 },
    harm: 'a newer sign-in or sign-out was overwritten',
  },
  {
    takenOut: 'the end of the grace',
    machine: at((now) => ({
      ...now,
      settings: { ...now.settings, rotationGrace: now.settings.rotationGrace > 0 ? Number.POSITIVE_INFINITY : 0 },
    })),
    world: { ...inGrace, pauses: 1 },
    harm: 'a replay although the access token works',
  },
  {
    takenOut: 'ancestry, a clock telling which sign-in is newer',
    machine: withoutAncestry((mine, stored) => stored.obtained_at < mine.obtained_at),
    world: { emptyings: 1, signIns: 2, skews },
    harm: 'a newer sign-in or sign-out was overwritten',
  },
  {
    takenOut: 'ancestry, whatever another sign-in stands there counting as behind',
    machine: withoutAncestry(() => true),
    world: { rollbacks: 1, signIns: 1 },
    harm: 'a newer sign-in or sign-out was overwritten',
  },
]
