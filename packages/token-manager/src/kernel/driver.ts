/**
 * The driver of the machine: it reads, swaps, sends and waits as the machine says, and tells it how that ended. It decides
 * nothing itself.
 */
import { FirewallChallengeError } from '../errors.ts'
import { mostConflicts, pauses, tooManyConflicts } from '../store/guarded-store.ts'
import { isSameWrite, type VersionedRecord, type Write } from '../store/lineage.ts'
import { readRecord } from '../store/read-record.ts'
import { isError } from '../support/callback-fault.ts'
import { awaitedPause, instantOf, pause } from '../support/runtime.ts'
import { type Account, know, unsavedUntil } from './account-memory.ts'
import type { Context } from './context.ts'
import type { Pass } from './gate.ts'
import { hostOf, type Moment, writeOf } from './knowledge.ts'
import { type Outcome, outcomeOf, SendGuardError } from './outcome.ts'
import { requestTimeout } from './pace.ts'
import { type RecordWatch, watchRecord } from './record-watch.ts'
import type { Begun, End, Enter, Event, Pause, Read, Send, Step, Swap, Task } from './steps.ts'
import { reasonOf, type RefreshTrace, tellOf, traceRefresh, type TracedRefresh } from './traces.ts'

interface Run {
  readonly account: Account
  readonly context: Context
  readonly onLooked: () => void
  /** Called once what this process alone holds would outlive it. */
  readonly onSafe: () => void
  watch: RecordWatch | undefined
  /** What the gates were asked about beside the last look. */
  ahead: { readonly host: string; readonly upon: Write } | undefined
  pass: Required<Pass> | undefined
  sent: 'nothing' | 'answered' | 'in-doubt'
  trace: TracedRefresh<Outcome> | undefined
  conflicts: number
}

const nothing = (): void => undefined

export async function run(
  account: Account,
  flow: Begun,
  context: Context,
  onLooked: () => void = nothing,
): Promise<void> {
  const begun = { account, context, onLooked, onSafe: nothing, ...holdsNothing }
  await goOn(begun, stepOf(begun, { on: 'begun', flow }))
}

const holdsNothing = {
  watch: undefined,
  ahead: undefined,
  pass: undefined,
  sent: 'nothing',
  trace: undefined,
  conflicts: 0,
} as const

export function note(account: Account, event: Event, context: Context): void {
  know(account, context.machine.step(account.knowledge, event, momentOf(context)).knowledge)
  tellOf(account.knowledge)
}

export function momentOf({ runtime, work }: Pick<Context, 'runtime' | 'work'>): Moment {
  // Each by its name: made by a spread it would take as long as all else of a step.
  return {
    wall: runtime.wallClock(),
    monotonic: runtime.monotonicClock(),
    settings: work.settings,
    holder: runtime.holder,
    livenessOf: runtime.livenessOf,
    uniqueId: runtime.uniqueId,
    isEnding: work.isEnding(),
  }
}

/** The one writer of what is known. */
function stepOf({ account, context }: Run, event: Event): Step {
  const step = context.machine.step(account.knowledge, event, momentOf(context))
  know(account, step.knowledge)
  return step
}

async function goOn(at: Run, from: Step): Promise<void> {
  const { account, context } = at
  try {
    for (let step = from; ;) {
      for (const notice of step.notices) {
        const heard = context.emit(notice.tell, notice.event)
        if (heard !== undefined) await heard
      }
      if (step.beside !== undefined) goOnBeside(at, step.beside)
      const { next } = step
      await letGo(at, next)
      if (next.do === 'end') {
        if (next.error !== undefined) throw next.error
        return
      }
      step = stepOf(at, await perform(at, next))
    }
  } finally {
    at.watch?.close()
    tellOf(account.knowledge)
    context.memory.release(account)
  }
}

/** New tokens that the store refused are saved beside what goes on: for as long as the process lives. */
function goOnBeside({ account, context }: Run, next: Task): void {
  const safe = new Promise<void>((onSafe) => {
    const { knowledge } = account
    void goOn({ account, context, onLooked: nothing, onSafe, ...holdsNothing }, { knowledge, notices: [], next }).then(
      onSafe,
      onSafe,
    )
  })
  account.safe = context.work.track(safe)
}

async function letGo(at: Run, next: Task | End): Promise<void> {
  const isOver = next.do === 'end' || (next.do === 'read' && next.to === 'decide')
  const isRequest = next.do === 'send' || (next.do === 'swap' && next.purpose.of === 'intent')
  if (at.pass !== undefined && (at.sent === 'nothing' ? !isRequest : isOver)) {
    const { pass, sent } = at
    at.pass = undefined
    at.sent = 'nothing'
    // Nothing was sent: whoever comes next may probe.
    if (sent === 'nothing') await pass.giveBack()
    else if (sent === 'answered') await pass.passed()
  }
  if (at.trace !== undefined && isOver) {
    at.trace.endAfter(unsavedUntil(at.account))
    at.trace = undefined
  }
  if (next.do === 'watch' || next.do === 'enter' || next.do === 'end') at.onLooked()
}

async function perform(at: Run, task: Task): Promise<Event> {
  try {
    return await (at.trace === undefined ? done(at, task) : at.trace.within(() => done(at, task)))
  } catch (error) {
    return { on: 'failed', task, error: isError(error) ? error : new Error('The refresh failed.') }
  }
}

function done(at: Run, task: Task): Promise<Event> {
  switch (task.do) {
    case 'read':
      return doRead(at, task)
    case 'swap':
      return doSwap(at, task)
    case 'watch':
      at.watch ??= watchRecord(at.account.name, at.context.store, at.context.runtime)
      return at.watch.change().then(() => ({ on: 'watched', task }))
    case 'enter':
      return doEnter(at, task)
    case 'send':
      return doSend(at, task)
    case 'pause':
      return doPause(at, task)
  }
}

async function doRead(at: Run, task: Read): Promise<Event> {
  const { account, context } = at
  const began = instantOf(context.runtime)
  const options = typeof task.to === 'object' ? { result: task.to.result } : undefined
  const record = readRecord(account.name, context, options)
  const stored = await (task.to === 'decide' && task.flow.kind === 'refresh' ? readAhead(at, record) : record)
  return { on: 'read', task, stored, at: began }
}

/** The gates beside the record, so that a store far away costs one round trip. */
async function readAhead(at: Run, record: Promise<VersionedRecord | undefined>): Promise<VersionedRecord | undefined> {
  const { account, context } = at
  const host = hostOf(account.knowledge)
  at.ahead = host === undefined ? undefined : { host, upon: writeOf(account.knowledge) }
  const [stored] = await Promise.all([record, host === undefined ? undefined : context.gates.ahead(host)])
  return stored
}

async function doSwap(at: Run, task: Swap): Promise<Event> {
  const { account, context } = at
  const { store, runtime } = context
  const { over, record, purpose, writeId = runtime.uniqueId() } = task
  const swapped = await store.swap(account.name, over, record, writeId, optionsOf(task))
  if (!('conflict' in swapped)) return { on: 'swapped', task, write: swapped }
  at.conflicts += 1
  if (at.conflicts < mostConflicts) return { on: 'conflict', task }
  // What stood in the way is in the next look, unless that lags behind what is written.
  const wait = purpose.of === 'intent' ? undefined : pauses[at.conflicts - mostConflicts]
  if (wait === undefined) throw tooManyConflicts()
  await awaitedPause(runtime, wait)
  return { on: 'conflict', task }
}

function optionsOf({ purpose, record }: Swap) {
  if (purpose.of === 'commit') return { result: purpose.commit.result }
  const isPutBack = purpose.of === 'restoration' && record.state === 'signed-out'
  return purpose.of === 'session' || isPutBack ? { forgetOlder: true } : undefined
}

async function doEnter(at: Run, task: Enter): Promise<Event> {
  const { account, context, ahead } = at
  // Another's block may have been written between the two reads: then the record has changed as well.
  const isOutdated = ahead?.host !== task.host || !isSameWrite(ahead.upon, task.upon)
  const pass = await context.gates.enter({ account, authUrl: task.host, isOutdated })
  if (pass !== 'waited') at.pass = pass
  return { on: 'entered', task, hasWaited: pass === 'waited' }
}

async function doSend(at: Run, task: Send): Promise<Event> {
  const { account, context, pass } = at
  const { machine, issuer, runtime } = context
  const { request } = task
  const { tokens } = request.derivedFrom
  let sentAt = request.swappedAt
  const beforeSend = (): void => {
    sentAt = instantOf(runtime)
    if (!machine.maySend(account.knowledge, request, momentOf(context)) || pass?.isGood() !== true) {
      throw new SendGuardError()
    }
  }
  const message = (): RefreshTrace => ({
    account: account.name,
    auth_url: tokens.auth_url,
    reason: reasonOf(account.knowledge, account.isKeepersTurn, instantOf(runtime)),
    replay: request.replay,
  })
  pass?.use()
  at.trace = traceRefresh(message, () =>
    outcomeOf(
      () => issuer.refresh(tokens, { timeout: requestTimeout, beforeSend }),
      tokens,
      async (fresh) => (await issuer.isOfAnotherOwner?.(fresh, account.name)) === true,
    ),
  )
  const outcome = await at.trace.outcome
  pass?.end()
  at.sent = sentBy(outcome)
  return { on: 'answered', task, outcome: await told(outcome, pass), sentAt }
}

function sentBy(outcome: Outcome): Run['sent'] {
  if (outcome.kind === 'unspent' && !outcome.error.requestSent) return 'nothing'
  return outcome.kind === 'in-doubt' || outcome.kind === 'challenged' ? 'in-doubt' : 'answered'
}

/** A block is told before anything is made of it. Whoever met it waits as long as all others. */
async function told(outcome: Outcome, pass: Required<Pass> | undefined): Promise<Outcome> {
  if (outcome.kind !== 'challenged') return outcome
  const { step, status, requestSent, nextAttemptAt } = outcome.error
  const next = (await pass?.challenged(outcome.error)) ?? nextAttemptAt
  return { kind: 'challenged', error: new FirewallChallengeError(next, { step, status, requestSent }) }
}

async function doPause({ context, onSafe }: Run, task: Pause): Promise<Event> {
  if (task.isSafe) onSafe()
  await pause(context.runtime, task.milliseconds * (0.75 + 0.5 * context.runtime.random()))
  return { on: 'paused', task }
}
