/**
 * Rules about repeated writes: whoever lost the acknowledgement of a write asks again with the same id.
 *
 * A success always means "this is what stands now". So a write id is remembered until the next write, and no longer: a
 * repeat after that is a conflict, and the caller reads what has become of the account.
 */
import assert from 'node:assert/strict'
import { applied, isConflict, record, same, writeId } from './records.ts'
import type { RuleGroup } from './rule.ts'

const account = 'a@example.com'

export const writeIds: RuleGroup = {
  name: 'write ids',
  rules: [
    {
      name: 'answers a repeat of the newest write with the same success and applies it once',
      check: async ({ store, reopen }) => {
        const other = await reopen()
        const [first, second] = [writeId(), writeId()]
        const created = await applied(store, account, 0, record(1), first)
        same(await applied(other, account, 0, record(1), first), created)
        const updated = await applied(store, account, 1, record(2), second)
        for (const view of [store, other, store]) {
          same(await applied(view, account, 1, record(2), second), updated)
        }
        same(await store.read(account), { version: 2, record: record(2) })
      },
    },
    {
      name: 'recognises a repeat whatever version it expects, as after reading again',
      check: async ({ store }) => {
        const id = writeId()
        await applied(store, account, 0, record(1))
        const answer = await applied(store, account, 1, record(2), id)
        same(await applied(store, account, 2, record(2), id), answer)
        assert.equal((await store.read(account))?.version, 2, 'the repeat was applied a second time')
      },
    },
    {
      name: 'answers a conflict to a repeat after another write and changes nothing',
      check: async ({ store }) => {
        const id = writeId()
        await applied(store, account, 0, record(1), id)
        await applied(store, account, 1, record(2))
        same(await store.swap(account, 0, record(1), id), { conflict: true })
        same(await store.read(account), { version: 2, record: record(2) })
      },
    },
    {
      name: 'does not take a write that met a conflict for one that was applied',
      check: async ({ store }) => {
        const id = writeId()
        await applied(store, account, 0, record(1))
        assert.ok(isConflict(await store.swap(account, 0, record(2), id)))
        assert.ok(isConflict(await store.swap(account, 0, record(2), id)), 'a refused write was answered as applied')
        assert.equal((await applied(store, account, 1, record(2), id)).version, 2)
      },
    },
    {
      name: 'applies a write once that is sent several times at the same moment',
      check: async ({ store, reopen }) => {
        const views = await Promise.all(Array.from({ length: 6 }, reopen))
        for (let version = 0; version < 3; version += 1) {
          const id = writeId()
          const next = record({ version })
          const answers = await Promise.all(views.map((view) => view.swap(account, version, next, id)))
          for (const answer of answers) same(answer, { version: version + 1, record: next })
          assert.equal((await store.read(account))?.version, version + 1)
        }
      },
    },
  ],
}
