/**
 * The rules and the store with one ingredient taken out, and a world in which the judge must notice.
 */
import { rules, type Rules } from '../../../src/refresh-protocol/rules.ts'
import type { TokenRecord } from '../../../src/tokens/token-record.ts'
import type { TokenStore } from '../../../src/tokens/token-store.ts'
import type { Scenario } from './scenario.ts'

export interface Mutant {
  readonly takenOut: string
  readonly rules?: Partial<Rules>
  readonly storeOf?: (store: TokenStore) => TokenStore
  /** What goes wrong in the world, for the harm to show. */
  readonly world: Partial<Scenario>
  readonly harm: string
}

export const mutants: readonly Mutant[] = [
  {
    takenOut: 'the intent',
    rules: { withIntent: (record) => record },
    world: {},
    harm: 'two requests for one expiry',
  },
  {
    takenOut: 'reading again after a conflict',
    storeOf: withIntentsBySheerForce,
    world: {},
    harm: 'newer tokens were overwritten by older ones',
  },
  {
    takenOut: 'waiting for another process: refreshing when the wait runs out',
    rules: { afterWaiting: () => 'send' },
    world: {},
    harm: 'two requests for one expiry',
  },
  {
    takenOut: 'deferring while in doubt',
    rules: { decide: (situation) => (rules.decide(situation) === 'defer' ? 'replay' : rules.decide(situation)) },
    world: { token: 'ageing', lostReplies: 1 },
    harm: 'a replay although the access token works',
  },
  {
    takenOut: 'the send guard',
    rules: { maySend: () => true },
    world: { pauses: 1 },
    harm: 'more replays than lost answers',
  },
  {
    takenOut: 'the lineage rule: a result only over the very version it was derived from',
    storeOf: withoutLateResults,
    world: { pauses: 1 },
    harm: 'a late success was thrown away',
  },
  {
    takenOut: 'the lineage rule: a blind save',
    rules: { mayReplace: () => true },
    world: { signIns: 1 },
    harm: 'a newer sign-in or sign-out was overwritten',
  },
  {
    takenOut: 'the lineage rule: a blind save over a tombstone',
    rules: { mayReplace: () => true },
    world: { signOuts: 1 },
    harm: 'a sign-out was undone',
  },
  {
    takenOut: "the intent's end of life",
    rules: { isAlive: (intent) => intent.answerLost !== true },
    world: { crashes: 1 },
    harm: 'the store holds a dead refresh token',
  },
]

/** An intent that meets a conflict is written over whatever stands there now. */
function withIntentsBySheerForce(store: TokenStore): TokenStore {
  return {
    ...store,
    async swap(account, expected, next, writeId, options) {
      const answer = await store.swap(account, expected, next, writeId, options)
      if (!('conflict' in answer) || !isIntent(next)) return answer
      const now = await store.read(account)
      return store.swap(account, now?.version ?? 0, next, writeId)
    },
  }
}

/** A result that meets a conflict is dropped, and its process believes it saved. */
function withoutLateResults(store: TokenStore): TokenStore {
  return {
    ...store,
    async swap(account, expected, next, writeId, options) {
      const answer = await store.swap(account, expected, next, writeId, options)
      return 'conflict' in answer && !isIntent(next) ? { version: expected + 1, record: next } : answer
    },
  }
}

const isIntent = (record: TokenRecord): boolean => record.state === 'signed-in' && record.intent !== undefined
