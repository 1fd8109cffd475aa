/**
 * Small changes of the protocol's source, each with the world in which it does harm and the harm that the judge must notice.
 */
import type { Scenario } from './scenario.ts'
import { grace } from './service.ts'
import type { SourceChange } from './source-change.ts'

export interface SourceMutant extends SourceChange {
  readonly takenOut: string
  readonly world: Partial<Scenario>
  readonly harm: string
}

const expiring = { token: 'ageing', calls: 2 } as const
const day = 86_400_000
const inGrace = { processes: 1, lostReplies: 1, token: 'ageing', rotation: 'brief', rotationGrace: grace } as const

export const sourceMutants: readonly SourceMutant[] = [
  {
    takenOut: 'the second look, before a refresh token that is brought along is stored',
    file: 'session',
    find: 'isWelcome(stored)',
    replace: 'true',
    world: { imports: 1, signIns: 1, signOuts: 1, calls: 0 },
    harm: 'a session was ended by a refresh token that was brought along',
  },
  {
    takenOut: 'heed of an answer given up',
    file: 'rules',
    find: 'if (intent.answerLost) return false',
    replace: '',
    world: { lostReplies: 1 },
    harm: 'a process waits for an answer that was given up',
  },
  {
    takenOut: 'the repetition of a commit, beyond the second',
    file: 'commit',
    find: '// The event `unsaved` told of it.',
    replace: 'return',
    world: { storeFailures: 3, ticks: 1 },
    harm: 'a late success was thrown away',
  },
  {
    takenOut: 'the tracking of a commit that goes on',
    file: 'commit',
    find: 'context.underWay.track(safe)',
    replace: 'safe',
    world: { storeFailures: 1, exits: 1, token: 'ageing', calls: 2 },
    harm: 'settled() resolved before a result was stored',
  },
  {
    takenOut: 'the doubt of before, where a replay is withdrawn',
    file: 'conclusion',
    find: 'before === undefined ? record : { ...record, intent: before }',
    replace: 'record',
    world: { lostReplies: 1, unreachables: 1, calls: 2 },
    harm: 'a lost answer was told as a plain refusal',
  },
  {
    takenOut: 'the block before the intent',
    file: 'conclusion',
    find: `  const nextAttemptAt = await context.breaker.challenged(auth_url, page)
  await leaveAsBefore(cache, ended, context)
`,
    replace: `  await leaveAsBefore(cache, ended, context)
  const nextAttemptAt = await context.breaker.challenged(auth_url, page)
`,
    world: { blocks: 1, firewall: true },
    harm: 'a request while the firewall is known to block',
  },
  {
    takenOut: 'the memory of an intent that was spent',
    file: 'conclusion',
    find: 'spent: true',
    replace: 'spent: false',
    world: { lostReplies: 1, storeFailures: 1, calls: 2 },
    harm: 'a lost answer was told as a plain refusal',
  },
  {
    takenOut: 'the reason of a refusal after a lost answer',
    file: 'conclusion',
    find: "replay ? 'rotated_token_lost' : refusal",
    replace: 'refusal',
    world: { lostReplies: 1, calls: 2 },
    harm: 'a lost answer was told as a plain refusal',
  },
  {
    takenOut: 'the wall clock in what may have passed',
    file: 'runtime',
    find: 'now.wall - since.wall, ',
    replace: '',
    world: { sleeps: 1 },
    harm: 'more replays than lost answers',
  },
  {
    takenOut: 'the monotonic clock in what may have passed',
    file: 'runtime',
    find: ', now.monotonic - since.monotonic',
    replace: '',
    world: { pauses: 1, jumps: 1, jumpBy: [-day] },
    harm: 'more replays than lost answers',
  },
  {
    takenOut: 'the monotonic clock in the life of an intent',
    file: 'doubt',
    find: 'rules.isAlive(intent, observed(cache, runtime.monotonicClock())',
    replace: 'rules.isAlive(intent, runtime.wallClock() - intent.at * 1000',
    world: { skews: [600_000, -600_000] },
    harm: 'two requests for one expiry',
  },
  {
    takenOut: 'the memory of own intents',
    file: 'attempt',
    find: 'cache.ownIntents = withOwnIntent(cache.ownIntents, { id: intent.id, spent: false, before }, record)',
    replace: '',
    world: { storeFailures: 1, calls: 2 },
    harm: 'a process waits for itself',
  },
  {
    takenOut: 'the memory of all own intents but the last',
    file: 'own-intents',
    find: '[...standing, ...others.slice(-remembered), added]',
    replace: '[added]',
    world: { storeFailures: 2, calls: 3 },
    harm: 'a process waits for itself',
  },
  {
    takenOut: 'the end of an own intent whose answer was lost',
    file: 'doubt',
    find: 'if (cache.ownIntents.some(({ id }) => id === intent.id)) return false',
    replace: '',
    world: { lostReplies: 1, storeFailures: 1, calls: 2 },
    harm: 'a process waits for itself',
  },
  {
    takenOut: 'the doubt of an own intent whose answer was lost',
    file: 'doubt',
    find: 'own === undefined || own.spent ? intent : own.before',
    replace: 'own === undefined ? intent : own.before',
    world: { lostReplies: 1, calls: 2, token: 'ageing' },
    harm: 'a lost answer was told as a plain refusal',
  },
  {
    takenOut: 'the number of a replay',
    file: 'attempt',
    find: 'unanswered.replay + 1',
    replace: '0',
    world: { lostReplies: 2, calls: 3 },
    harm: 'replays without a rest between them',
  },
  {
    takenOut: 'the rest between two replays',
    file: 'refresh',
    find: 'replayBackedOff: intent === undefined || replayBackOffLeft(cache, intent, context) <= 0',
    replace: 'replayBackedOff: true',
    world: { lostReplies: 2, calls: 3 },
    harm: 'replays without a rest between them',
  },
  {
    takenOut: 'the rest after a failure',
    file: 'attempt',
    find: 'throwIfBackingOff(cache, context)\n  const',
    replace: 'const',
    world: { unreachables: 2, calls: 2 },
    harm: 'no rest after a failure',
  },
  {
    takenOut: 'heed of a block',
    file: 'attempt',
    find: 'await context.breaker.enter(auth_url)',
    replace: 'undefined',
    world: { blocks: 1, firewall: true, calls: 2 },
    harm: 'a request while the firewall is known to block',
  },
  {
    takenOut: 'the look at what others know of the firewall',
    file: 'refresh',
    find: 'host && context.breaker.sync(host)',
    replace: 'undefined',
    world: { blocks: 1, firewall: true, looks: 1 },
    harm: 'a request while the firewall is known to block',
  },
  {
    takenOut: 'the second look, where the record has changed beside the first',
    file: 'refresh',
    find: "if ((decision === 'send' || decision === 'replay') && isOutdated) await context.breaker.sync(now ?? '')",
    replace: '',
    world: { blocks: 1, firewall: true },
    harm: 'a request while the firewall is known to block',
  },
  {
    takenOut: 'the look at what changed since the decision',
    file: 'attempt',
    find: 'if (!isSameWrite(cache, upon)) return unused(probe)',
    replace: '',
    world: { blocks: 1, firewall: true, looks: 1 },
    harm: 'two requests for one expiry',
  },
  {
    takenOut: 'the least interval between two refreshes',
    file: 'rules',
    find: "if (situation.justRefreshed) return 'serve'",
    replace: '',
    world: { refreshes: 2 },
    harm: 'two refreshes within a minute',
  },
  {
    takenOut: 'heed of a call that wants another token',
    file: 'rules',
    find: "freshness === 'fresh' && !situation.unwanted",
    replace: "freshness === 'fresh'",
    world: { refreshes: 1, token: 'fresh' },
    harm: 'refresh() changed nothing',
  },
  {
    takenOut: 'the end of the answer at hand, once it was refused',
    file: 'access-token',
    find: `  cache.rejected = `,
    replace: `  cache.rejected = undefined && `,
    world: { refusals: 1, token: 'ageing', calls: 3 },
    harm: 'a refused access token was handed out again',
  },
  {
    takenOut: 'the tracking of a flight before its request',
    file: 'in-flight-refresh',
    find: 'context.underWay.track(refresh(cache, context, () => synced?.()).finally(finish))',
    replace: 'refresh(cache, context, () => synced?.()).finally(finish)',
    world: { exits: 1, looks: 1, token: 'ageing' },
    harm: 'an exit after settled() lost a token set',
  },
  {
    takenOut: 'the difference between a lost answer and a request that was not sent',
    file: 'outcome',
    find: "error.requestSent ? 'in-doubt' : 'unspent'",
    replace: "'unspent'",
    world: { lostReplies: 1, ...expiring },
    harm: 'a lost answer was told as a plain refusal',
  },
  {
    takenOut: 'the difference between a request that was not sent and a lost answer',
    file: 'outcome',
    find: "error.requestSent ? 'in-doubt' : 'unspent'",
    replace: "'in-doubt'",
    world: { unreachables: 1, calls: 2 },
    harm: 'a refresh is in doubt without a reason',
  },
  {
    takenOut: 'the difference between a block and a lost answer',
    file: 'outcome',
    find: "if (error instanceof FirewallChallengeError) return { kind: 'blocked', error }",
    replace: '',
    world: { blocks: 1, firewall: true, calls: 2 },
    harm: 'a refresh is in doubt without a reason',
  },
  {
    takenOut: 'the first sight of an intent',
    file: 'account-memory',
    find: 'else if (intent.id !== cache.intentSeen?.id) cache',
    replace: 'else cache',
    world: { crashes: 1 },
    harm: 'the store holds a dead refresh token',
  },
  {
    takenOut: 'the send guard at the request',
    file: 'attempt',
    find: 'timeout: requestTimeout, beforeSend }',
    replace: 'timeout: requestTimeout }',
    world: { pauses: 1 },
    harm: 'more replays than lost answers',
  },
  {
    takenOut: 'the name of the write that a swap expects',
    file: 'guarded-store',
    find: 'expectedWriteId === undefined ? options : { ...options, expectedWriteId }',
    replace: 'options',
    world: { emptyings: 1, signIns: 1 },
    harm: 'a newer sign-in or sign-out was overwritten',
  },
  {
    takenOut: 'the end of the grace',
    file: 'doubt',
    find: 'elapsed(lostResponse.sentAt, instantOf(runtime)) < rotationGrace',
    replace: 'rotationGrace > 0',
    world: { ...inGrace, pauses: 1 },
    harm: 'a replay although the access token works',
  },
  {
    takenOut: 'ancestry, a clock telling which sign-in is newer',
    file: 'lineage',
    find: 'return descends(seen.record, stored.record)',
    replace:
      'return stored.record.state !== "signed-out" && seen.record.state !== "signed-out" && stored.record.obtained_at < seen.record.obtained_at',
    world: { emptyings: 1, signIns: 2, skews: [600_000, -600_000] },
    harm: 'a newer sign-in or sign-out was overwritten',
  },
  {
    takenOut: 'ancestry, whatever another sign-in stands there counting as behind',
    file: 'lineage',
    find: 'return descends(seen.record, stored.record)',
    replace: 'return true',
    world: { rollbacks: 1, signIns: 1 },
    harm: 'a newer sign-in or sign-out was overwritten',
  },
]

/** A change that does no harm in a simulated world, mostly because the judge forgives what a store has lost, and the test that it breaks. */
export interface NamedMutant extends SourceChange {
  readonly takenOut: string
  /** The test's file, without its ending, and its name. */
  readonly killedBy: readonly [file: string, name: string]
}

/** Each was seen to fail there. */
export const namedMutants: readonly NamedMutant[] = [
  {
    takenOut: 'restoration',
    file: 'restoration',
    find: 'if (record === undefined) return undefined',
    replace: 'if (record !== undefined || cache !== undefined) return undefined',
    killedBy: ['lost-store', 'is put back by a process that holds it, and everybody gets it again'],
  },
  {
    takenOut: 'the doubt of what was put back',
    file: 'restoration',
    find: "if (record.state !== 'signed-in') return record",
    replace: 'return record',
    killedBy: ['lost-store', 'comes back in its newest form: who holds an older one waits for whoever holds a newer'],
  },
  {
    takenOut: 'ancestry between two memories: the later clock alone',
    file: 'restoration',
    find: ' || descends(stored, seen)',
    replace: '',
    killedBy: ['lost-store', 'does not replace a newer one that was put back, though its clock is ten minutes ahead'],
  },
  {
    takenOut: 'ancestry: another sign-in is never behind',
    file: 'lineage',
    find: 'return descends(seen.record, stored.record)',
    replace: 'return false',
    killedBy: ['lost-store', 'stays signed out where a process knows of the sign-out, also over what another put back'],
  },
  {
    takenOut: 'the write-back of a lost intent',
    file: 'lineage',
    find: 'return isEarlier && maySpendAgain(stored.record) && !maySpendAgain(seen.record)',
    replace: 'return false',
    killedBy: ['store-failures', 'is not believed about a refresh that another process was seen to begin%s'],
  },
  {
    takenOut: 'the name of the write, where a lost intent is looked for',
    file: 'lineage',
    find: ' || (stored.version === seen.version && !isSameWrite(stored, seen))',
    replace: '',
    killedBy: ['store-failures', ', nor where it has used the version of that again'],
  },
  {
    takenOut: 'the doubt of what was left in the spool',
    file: 'commit',
    find: 'const isDoubtful = spooledAt !== undefined && !isNext',
    replace: 'const isDoubtful = false',
    killedBy: [
      'spool',
      'and could not be taken out is in doubt where the store has lost it: what was spent since is not sent again',
    ],
  },
  {
    // In the simulation the guard and the write are one step, and what comes between the swap and them is longer than the guard allows.
    takenOut: 'the end of the grace, asked again right before the request',
    file: 'attempt',
    find: 'if (grace !== undefined && !isInGrace(cache, grace, context)) throw new SendGuardError()',
    replace: '',
    killedBy: [
      'rotation-grace',
      'by a process that is held up between its decision and the request until the grace is over',
    ],
  },
  {
    takenOut: 'the roll call where an account was found lost',
    file: 'read-record',
    find: 'void underWay.track(callRoll(context))',
    replace: 'void underWay',
    killedBy: [
      'lost-store',
      'gets all accounts back once one was found: whoever holds another one looks, though nobody asks it',
    ],
  },
]
