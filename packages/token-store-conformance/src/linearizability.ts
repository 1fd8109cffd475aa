/**
 * The rule that the refresh protocol rests on: swaps and reads of many callers happen one after the other.
 */
import assert from 'node:assert/strict'
import type { TokenStore } from '@owner-sso/token-manager'
import { flaw, type Operation } from './history.ts'
import { isConflict, record, writeId } from './records.ts'
import type { RuleGroup } from './rule.ts'

const callers = 5
const callsEach = 8

export const linearizability: RuleGroup = {
  name: 'many callers',
  rules: {
    'gives random concurrent reads and swaps one order that all of them agree with': async ({ reopen, histories }) => {
      const views = await Promise.all(Array.from({ length: callers }, reopen))
      for (let seed = 1; seed <= histories; seed += 1) {
        const history = await randomHistory(views, `history-${seed}@example.com`, seed)
        const wrong = flaw(history)
        if (wrong !== undefined) assert.fail(`${wrong} (seed ${seed}):\n${print(history)}`)
      }
    },
  },
}

/** Every caller reads and swaps in an order of its own; most swaps expect what was read last, some what never stood. */
async function randomHistory(views: readonly TokenStore[], account: string, seed: number): Promise<Operation[]> {
  const history: Operation[] = []
  const random = pseudoRandom(seed)
  let clock = 0
  const tick = (): number => (clock += 1)

  const caller = async (store: TokenStore, name: number): Promise<void> => {
    let seen = 0
    let seenId: string | undefined
    for (let call = 0; call < callsEach; call += 1) {
      const from = tick()
      if (random() < 0.4) {
        const stored = await store.read(account)
        seen = stored?.version ?? 0
        seenId = stored?.writeId
        const content = stored === undefined ? '' : JSON.stringify(stored.record)
        history.push({ kind: 'read', version: seen, content, from, to: tick() })
      } else {
        const expected = random() < 0.9 ? seen : Math.floor(random() * (seen + 3))
        const next = record({ name, call })
        const options = expected === seen && seenId !== undefined ? { expectedWriteId: seenId } : {}
        const result = await store.swap(account, expected, next, writeId(), options)
        if (isConflict(result)) {
          history.push({ kind: 'conflict', expected, from, to: tick() })
        } else {
          history.push({ kind: 'swap', version: result.version, content: JSON.stringify(next), from, to: tick() })
          seen = result.version
          seenId = result.writeId
        }
      }
    }
  }
  await Promise.all(views.map(caller))
  const from = tick()
  const last = await views[0]?.read(account)
  const content = last === undefined ? '' : JSON.stringify(last.record)
  history.push({ kind: 'read', version: last?.version ?? 0, content, from, to: tick() })
  return history
}

/** Mulberry32: the same seed gives the same numbers, so that a failure can be tried again. */
function pseudoRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function print(history: readonly Operation[]): string {
  return history
    .toSorted((a, b) => a.from - b.from)
    .map((operation) => `  ${JSON.stringify(operation)}`)
    .join('\n')
}
