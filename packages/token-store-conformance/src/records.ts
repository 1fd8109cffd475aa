/**
 * Records to store. A store treats a record as a sealed JSON value, so these hold whatever JSON can.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { Conflict, SwapOptions, TokenRecord, TokenStore, Versioned } from '@owner-sso/token-manager'

/** A record that is recognised by its mark. */
export function record(mark: unknown): TokenRecord {
  // Not what a token manager stores: a store that looks inside a record does more than it should.
  const sealed: TokenRecord = JSON.parse(JSON.stringify({ schema: 1, state: 'signed-in', mark }))
  return sealed
}

/** Whatever JSON can hold and a careless encoding would change. */
export const oddRecord: TokenRecord = record({
  text: 'Ünïcödé 🚗 \u0000 \u2028 \n \t \\ " \' </script> %s ${x}',
  keys: { '': 1, 'a.b': 2, $set: 3, 'with space': 4, constructor: 5 },
  numbers: [0, -1, 1.5, 10 ** 21, Number.MAX_SAFE_INTEGER, 5e-324],
  nothing: [null, [], {}, '', false],
  nested: [[[[{ deep: [true] }]]]],
})

/** As large as the largest answers of a token endpoint, twice over. */
export const largeRecord: TokenRecord = record('0123456789abcdef'.repeat(32 * 1024))

/** A name for a write that no other write has. */
export const writeId = (): string => randomUUID()

/** Swaps, and expects success. */
export async function applied(
  store: TokenStore,
  account: string,
  expected: number,
  next: TokenRecord,
  id: string = writeId(),
  options?: SwapOptions,
): Promise<Versioned> {
  const result = await store.swap(account, expected, next, id, options)
  assert.ok(!isConflict(result), `swap over version ${expected} returned a conflict`)
  return result
}

export function isConflict(result: Versioned | Conflict | undefined): result is Conflict {
  assert.ok(result !== undefined, 'a swap returned nothing')
  return 'conflict' in result
}

/** Freezes a record all the way down, so that a store that writes into it throws. */
export function frozen<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(frozen)
    Object.freeze(value)
  }
  return value
}

/** Asserts that a store returned this version and this record; the name of the write is a rule of its own. */
export function expectStored(actual: Versioned | Conflict | undefined, version: number, content: TokenRecord): void {
  assert.ok(actual !== undefined && !isConflict(actual), `version ${version} is not stored`)
  same({ version: actual.version, record: actual.record }, { version, record: content })
}

/** The same JSON value. Prototypes don't count: they tell which realm parsed it, and what a store added. */
export function same(actual: unknown, expected: unknown, message?: string): void {
  assert.deepEqual(plain(actual), plain(expected), message)
}

function plain(value: unknown): unknown {
  return value === undefined ? value : JSON.parse(JSON.stringify(value))
}
