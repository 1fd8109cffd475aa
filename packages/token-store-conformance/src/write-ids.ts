/**
 * Rules about repeated writes: whoever lost the acknowledgement of a write asks again with the same id.
 *
 * A success always means "this is what is stored now". So a write id is remembered until the next write, and no longer: a
 * repeat after that is a conflict, and the caller reads what has become of the account.
 *
 * The id tells a record from any other under the same version as well. That matters where versions come again: in a store
 * that was emptied and filled again, or set back, whoever read before would write over what it has never seen.
 */
import assert from 'node:assert/strict'
import { applied, expectStored, isConflict, record, same, writeId } from './records.ts'
import type { RuleGroup } from './rule.ts'

const account = 'a@example.com'

export const writeIds: RuleGroup = {
  name: 'write ids',
  rules: {
    'returns for a repeat of the newest write with the same success and applies it once': async ({ store, reopen }) => {
      const other = await reopen()
      const [first, second] = [writeId(), writeId()]
      const created = await applied(store, account, 0, record(1), first)
      same(await applied(other, account, 0, record(1), first), created)
      const updated = await applied(store, account, 1, record(2), second)
      for (const view of [store, other, store]) {
        same(await applied(view, account, 1, record(2), second), updated)
      }
      expectStored(await store.read(account), 2, record(2))
    },
    'recognises a repeat whatever version it expects, as after reading again': async ({ store }) => {
      const id = writeId()
      await applied(store, account, 0, record(1))
      const result = await applied(store, account, 1, record(2), id)
      same(await applied(store, account, 2, record(2), id), result)
      assert.equal((await store.read(account))?.version, 2, 'the repeat was applied a second time')
    },
    'returns a conflict for a repeat after another write and changes nothing': async ({ store }) => {
      const id = writeId()
      await applied(store, account, 0, record(1), id)
      await applied(store, account, 1, record(2))
      same(await store.swap(account, 0, record(1), id), { conflict: true })
      expectStored(await store.read(account), 2, record(2))
    },
    'does not take a write that met a conflict for one that was applied': async ({ store }) => {
      const id = writeId()
      await applied(store, account, 0, record(1))
      assert.ok(isConflict(await store.swap(account, 0, record(2), id)))
      assert.ok(isConflict(await store.swap(account, 0, record(2), id)), 'a refused write was answered as applied')
      assert.equal((await applied(store, account, 1, record(2), id)).version, 2)
    },
    'applies a write once that is sent several times at the same moment': async ({ store, reopen }) => {
      const views = await Promise.all(Array.from({ length: 6 }, reopen))
      for (let version = 0; version < 3; version += 1) {
        const id = writeId()
        const next = record({ version })
        const results = await Promise.all(views.map((view) => view.swap(account, version, next, id)))
        for (const result of results) expectStored(result, version + 1, next)
        assert.equal((await store.read(account))?.version, version + 1)
      }
    },
    'tells with each record the id of the write that it is': async ({ store, reopen }) => {
      const id = 'an id with "quotes", \n a line break and ünïcödé'
      assert.equal((await applied(store, account, 0, record(1), id)).writeId, id)
      assert.equal((await applied(store, account, 0, record(1), id)).writeId, id)
      assert.equal((await store.read(account))?.writeId, id)
      const other = await reopen()
      assert.equal((await other.read(account))?.writeId, id)
      const next = writeId()
      await applied(other, account, 1, record(2), next)
      assert.equal((await store.read(account))?.writeId, next)
    },
    'returns a conflict where another write is stored under the expected version, as after the store was emptied':
      async ({ store }) => {
        const [lost, current] = [writeId(), writeId()]
        await applied(store, account, 0, record('signed in again'), current)
        const late = await store.swap(account, 1, record('late'), writeId(), { expectedWriteId: lost })
        same(late, { conflict: true }, 'a swap that expected another write wrote over this one')
        expectStored(await store.read(account), 1, record('signed in again'))
        await applied(store, account, 1, record('next'), writeId(), { expectedWriteId: current })
        expectStored(await store.read(account), 2, record('next'))
      },
    'returns for a repeat of the newest write with the same success, whatever write it expects': async ({ store }) => {
      const [first, second] = [writeId(), writeId()]
      await applied(store, account, 0, record(1), first)
      const result = await applied(store, account, 1, record(2), second, { expectedWriteId: first })
      same(await applied(store, account, 1, record(2), second, { expectedWriteId: first }), result)
      expectStored(await store.read(account), 2, record(2))
    },
  },
}
