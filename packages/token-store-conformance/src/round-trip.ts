/**
 * Rules about one record: what was stored comes back, and nobody else holds on to it.
 */
import assert from 'node:assert/strict'
import type { TokenRecord } from '@owner-sso/token-manager'
import { applied, expectStored, frozen, largeRecord, oddRecord, record, same } from './records.ts'
import type { RuleGroup } from './rule.ts'

export const roundTrip: RuleGroup = {
  name: 'round trip',
  rules: {
    'reads undefined where nothing was ever stored': async ({ store }) => {
      assert.equal(await store.read('nobody@example.com'), undefined)
    },
    'reads back exactly the JSON value that was stored': async ({ store }) => {
      const before: TokenRecord = JSON.parse(JSON.stringify(oddRecord))
      const result = await applied(store, 'a@example.com', 0, frozen(oddRecord))
      expectStored(result, 1, before)
      expectStored(await store.read('a@example.com'), 1, before)
    },
    'keeps a record of half a megabyte': async ({ store }) => {
      await applied(store, 'a@example.com', 0, largeRecord)
      await applied(store, 'a@example.com', 1, frozen(record('small')))
      await applied(store, 'a@example.com', 2, largeRecord)
      expectStored(await store.read('a@example.com'), 3, largeRecord)
    },
    'is not changed by a caller who changes a record that went in or came out': async ({ store }) => {
      const mine = record({ list: ['as stored'] })
      const result = await applied(store, 'a@example.com', 0, mine)
      scribble(mine)
      scribble(result.record)
      scribble((await store.read('a@example.com'))?.record ?? {})
      same((await store.read('a@example.com'))?.record, record({ list: ['as stored'] }))
    },
  },
}

/** Writes over all that an object and its lists have, unless the store has frozen them, which is as good. */
function scribble(target: object): void {
  for (const [key, value] of Object.entries(target)) {
    if (typeof value === 'object' && value !== null) scribble(value)
    Reflect.set(target, key, 'scribbled on')
  }
}
