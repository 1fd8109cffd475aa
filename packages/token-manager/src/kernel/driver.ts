/**
 * The driver of the machine: it reads, swaps, sends and waits as the machine says, and tells it how that ended. It decides
 * nothing itself.
 */
import { isError } from '../support/native-error.ts'
import type { Probe } from '../issuer/firewall-state.ts'
import { reasonOf, type RefreshTrace, traceRefresh, type TracedRefresh } from './refresh-trace.ts'
import { type Account, know, unsavedUntil } from './account-memory.ts'
import { tellOf } from './account-news.ts'
import { mostConflicts, pauses, tooManyConflicts } from '../store/contention.ts'
import type { Context } from './context.ts'
import type { Moment } from './knowledge.ts'
import { type Outcome, outcomeOf, SendGuardError } from './outcome.ts'
import { requestTimeout } from './pace.ts'
import { readRecord } from '../store/read-record.ts'
import { type RecordWatch, watchRecord } from './record-watch.ts'
import { claimRefreshToken } from '../saved-once/refresh-token-index.ts'
import { callRoll } from '../watch-over/roll-call.ts'
import { instantOf } from '../support/runtime.ts'
import { dropSpooled, findSpooled } from '../store/spooled.ts'
import type {
  End,
  Event,
  Begun,
  Look,
  Notice,
  Permit,
  Report,
  Send,
  Step,
  Swap,
  Task,
} from './steps.ts'
import { spendTurn, waitForTurn } from '../gates/budget/turn.ts'

/** One flow on its way, and what it holds meanwhile. */
interface Run {
  readonly account: Account
  readonly context: Context
  /** Called whenever the record was looked at, and what it says is known. */
  readonly onLooked: () => void
  /** Called once what this process alone holds would outlive it. */
  readonly onSafe: () => void
  watch: RecordWatch | undefined
  probe: Probe | undefined
  trace: TracedRefresh<Outcome> | undefined
  conflicts: number
}

const nothing = (): void => undefined

/**
 * Runs a flow to its end.
 *
 * @throws SsoError as the machine says
 */
export async function run(
  account: Account,
  flow: Begun,
  context: Context,
  onLooked: () => void = nothing,
): Promise<void> {
  const begun = { account, context, onLooked, onSafe: nothing, ...holdsNothing }
  await goOn(begun, stepOf(begun, { on: 'begun', flow }))
}

const holdsNothing = { watch: undefined, probe: undefined, trace: undefined, conflicts: 0 }

/** Tells the machine of something that is no flow. */
export function note(account: Account, event: Event, context: Context): void {
  know(account, context.machine.step(account.knowledge, event, momentOf(context)).knowledge)
  tellOf(account.knowledge)
}

export function momentOf({ runtime, settings, underWay }: Pick<Context, 'runtime' | 'settings' | 'underWay'>): Moment {
  // Each by its name: made by a spread it would take as long as all else of a step.
  return {
    wall: runtime.wallClock(),
    monotonic: runtime.monotonicClock(),
    settings,
    holder: runtime.holder,
    livenessOf: runtime.livenessOf,
    uniqueId: runtime.uniqueId,
    isEnding: underWay.isEnding(),
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
        const told = tell(notice, context)
        if (told !== undefined) await told
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
  account.safe = context.underWay.track(safe)
}

/** What the flow holds, and will not use next. */
async function letGo(at: Run, next: Task | End): Promise<void> {
  const isRequest = next.do === 'send' || (next.do === 'swap' && next.purpose.of === 'intent')
  if (at.probe !== undefined && !isRequest) {
    const { probe } = at
    at.probe = undefined
    // Nothing was sent: whoever comes next may probe.
    await probe.giveBack()
  }
  if (at.trace !== undefined && (next.do === 'look' || next.do === 'end')) {
    at.trace.endAfter(unsavedUntil(at.account))
    at.trace = undefined
  }
  if (next.do === 'watch' || next.do === 'permit' || next.do === 'end') at.onLooked()
}

/** A promise where the flow has to wait for it. */
function tell(notice: Notice, context: Context): Promise<void> | undefined {
  if (notice.tell !== 'roll-call') {
    context.emit(notice.tell, notice.event)
    return undefined
  }
  const called = context.underWay.track(callRoll(context))
  return context.settings.outlivesCalls ? undefined : called
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
    case 'look':
      return doLook(at, task)
    case 'read':
      return readRecord(at.account.name, at.context).then((stored) => ({ on: 'read', task, stored }))
    case 'swap':
      return doSwap(at, task)
    case 'watch':
      at.watch ??= watchRecord(at.account.name, at.context.store, at.context.runtime)
      return at.watch.change().then(() => ({ on: 'watched', task }))
    case 'permit':
      return doPermit(at, task)
    case 'send':
      return doSend(at, task)
    case 'report':
      return doReport(at, task)
    case 'keep':
      return doKeep(at, task)
    case 'clear':
      return doClear(at, task)
    case 'pause':
      return doPause(at, task)
    case 'index':
      return claimRefreshToken(at.account.name, task.flow.tokens.refresh_token, task.flow.session, at.context).then(
        () => ({ on: 'indexed', task }),
      )
    case 'drop':
      return dropSpooled(at.account.name, at.context).then(() => ({ on: 'dropped', task }))
  }
}

/** All at once, so that a store far away costs one round trip. */
async function doLook({ account, context }: Run, task: Look): Promise<Event> {
  const lookedAt = instantOf(context.runtime)
  const [stored, spooled] = await Promise.all([
    readRecord(account.name, context),
    findSpooled(account.name, context),
    task.host === undefined ? undefined : context.firewall.sync(task.host),
  ])
  return { on: 'looked', task, stored, spooled, lookedAt }
}

async function doSwap(at: Run, task: Swap): Promise<Event> {
  const { account, context } = at
  const { store, runtime } = context
  const options = task.forgetOlder ? { forgetOlder: true } : undefined
  const swapped = await store.swap(account.name, task.over, task.record, task.writeId ?? runtime.uniqueId(), options)
  if (!('conflict' in swapped)) return { on: 'swapped', task, write: swapped }
  at.conflicts += 1
  if (at.conflicts < mostConflicts) return { on: 'conflict', task }
  // What stood in the way is in the next look, unless that lags behind what is written.
  const pause = task.purpose.of === 'intent' ? undefined : pauses[at.conflicts - mostConflicts]
  if (pause === undefined) throw tooManyConflicts()
  const release = runtime.keepAlive()
  await new Promise<void>((resolve) => runtime.after(pause, resolve))
  release()
  return { on: 'conflict', task }
}

async function doPermit(at: Run, task: Permit): Promise<Event> {
  const { account, context } = at
  const { firewall } = context
  if (task.isOutdated) await firewall.sync(task.host)
  // Another process may have refreshed while this one waited.
  const hasWaited = !firewall.isBlocked(task.host) && (await waitForTurn(account, task.host, context))
  if (!hasWaited) at.probe = await firewall.enter(task.host)
  return { on: 'permitted', task, hasWaited }
}

async function doSend(at: Run, task: Send): Promise<Event> {
  const { account, context } = at
  const { machine, sso } = context
  const { request } = task
  const { tokens } = request.derivedFrom
  const turn = spendTurn(account, context)
  let sentAt = request.swappedAt
  const beforeSend = (): void => {
    sentAt = instantOf(context.runtime)
    if (!machine.maySend(account.knowledge, request, momentOf(context)) || !turn.isGood()) throw new SendGuardError()
  }
  const message = (): RefreshTrace => ({
    account: account.name,
    auth_url: tokens.auth_url,
    reason: reasonOf(account, instantOf(context.runtime)),
    replay: request.replay,
  })
  at.trace = traceRefresh(message, () =>
    outcomeOf(
      () => sso.refresh(tokens, { timeout: requestTimeout, beforeSend }),
      tokens,
      async (fresh) => (await sso.isOfAnotherOwner?.(fresh, account.name)) === true,
    ),
  )
  const outcome = await at.trace.outcome
  turn.end()
  const isUnsent = outcome.kind === 'unspent' && !outcome.error.requestSent
  // What was sent is a probe that was used.
  if (!isUnsent) at.probe = undefined
  return { on: 'answered', task, outcome, sentAt }
}

async function doReport({ context: { firewall } }: Run, task: Report): Promise<Event> {
  if (task.news.kind === 'challenged') {
    const nextAttemptAt = await firewall.challenged(task.host, task.news.outcome.error)
    return { on: 'reported', task, nextAttemptAt }
  }
  await firewall.passed(task.host)
  return { on: 'reported', task, nextAttemptAt: 0 }
}

async function doKeep({ account, context }: Run, task: Task & { do: 'keep' }): Promise<Event> {
  const { result, from } = task.commit
  const version = from.kind === 'spool' ? 0 : from.request.held.version
  try {
    return { on: 'kept', task, at: await context.spool?.keep(account.name, result, version) }
  } catch (error) {
    context.reportSpool(error)
    return { on: 'kept', task, at: undefined }
  }
}

async function doClear({ account, context }: Run, task: Task & { do: 'clear' }): Promise<Event> {
  const hasCleared = (await context.spool?.clear(account.name, task.at).catch(() => false)) === true
  return { on: 'cleared', task, hasCleared }
}

async function doPause({ context, onSafe }: Run, task: Task & { do: 'pause' }): Promise<Event> {
  const { after, random } = context.runtime
  if (task.isSafe) onSafe()
  await new Promise<void>((resolve) => after(task.milliseconds * (0.75 + 0.5 * random()), resolve))
  return { on: 'paused', task }
}
