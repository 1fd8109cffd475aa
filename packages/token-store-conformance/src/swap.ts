/**
 * Rules about the compare-and-swap, one caller at a time.
 */
import assert from 'node:assert/strict'
import { applied, expectStored, isConflict, record, same, writeId } from './records.ts'
import type { RuleGroup } from './rule.ts'

const account = 'a@example.com'

export const swap: RuleGroup = {
  name: 'compare and swap',
  rules: {
    'creates over version 0, once': async ({ store }) => {
      await applied(store, account, 0, record('first'))
      const second = await store.swap(account, 0, record('second'), writeId())
      same(second, { conflict: true }, 'a second creation has to return { conflict: true }')
      expectStored(await store.read(account), 1, record('first'))
    },
    'returns a conflict for a stale version and changes nothing': async ({ store }) => {
      await applied(store, account, 0, record(1))
      await applied(store, account, 1, record(2))
      same(await store.swap(account, 1, record('stale'), writeId()), { conflict: true })
      expectStored(await store.read(account), 2, record(2))
    },
    'returns a conflict for a version that is not stored yet and changes nothing': async ({ store }) => {
      same(await store.swap(account, 1, record('too early'), writeId()), { conflict: true })
      assert.equal(await store.read(account), undefined)
      await applied(store, account, 0, record(1))
      same(await store.swap(account, 7, record('too early'), writeId()), { conflict: true })
      expectStored(await store.read(account), 1, record(1))
    },
    'counts versions up by exactly one and returns what it wrote': async ({ store }) => {
      for (let version = 0; version < 12; version += 1) {
        const next = record({ round: version + 1 })
        expectStored(await applied(store, account, version, next), version + 1, next)
        expectStored(await store.read(account), version + 1, next)
      }
    },
    'lets exactly one of many swaps over the same version win': async ({ store, reopen }) => {
      const views = await Promise.all(Array.from({ length: 8 }, reopen))
      for (let version = 0; version < 4; version += 1) {
        const results = await Promise.all(
          views.map((view, index) => view.swap(account, version, record({ version, index }), writeId())),
        )
        const winners = results.filter((result) => !isConflict(result))
        assert.equal(winners.length, 1, `${winners.length} of 8 swaps over version ${version} won`)
        same(await store.read(account), winners[0])
      }
    },
  },
}
