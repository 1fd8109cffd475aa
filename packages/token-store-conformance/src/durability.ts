/**
 * Rules for stores whose records outlive the process that wrote them.
 */
import assert from 'node:assert/strict'
import { applied, expectStored, isConflict, record, same, writeId } from './records.ts'
import type { RuleGroup } from './rule.ts'
import { written } from './writer.ts'

const account = 'a@example.com'

export const durability: RuleGroup = {
  name: 'durability',
  rules: [
    {
      name: 'keeps records, versions and the newest write id when it is opened again',
      needs: 'reopen',
      check: async ({ store, reopen }) => {
        const id = writeId()
        await applied(store, account, 0, record(1))
        await applied(store, account, 1, record(2), id)
        const again = await reopen()
        expectStored(await again.read(account), 2, record(2))
        assert.ok(isConflict(await again.swap(account, 1, record('stale'), writeId())))
        assert.equal((await applied(again, account, 1, record(2), id)).version, 2)
        await applied(again, account, 2, record(3))
        expectStored(await store.read(account), 3, record(3))
      },
    },
    {
      name: 'keeps what was acknowledged to a writer that dies in the middle of the next write',
      needs: 'crash',
      check: async ({ store, crash }) => {
        const acknowledged = await crash(account)
        const goOn = async (): Promise<boolean> => {
          const stored = await store.read(account)
          const version = stored?.version ?? 0
          assert.ok(version >= acknowledged, `version ${acknowledged} was acknowledged, ${version} is left`)
          assert.ok(version <= acknowledged + 1, `version ${version} is stored, ${acknowledged} was acknowledged`)
          if (stored) same(stored.record, written(version), 'the record is not the one that was written')
          return !isConflict(await store.swap(account, version, record('the next writer goes on'), writeId()))
        }
        // A server may finish the dead writer's last write after it was read: that is the one conflict.
        assert.ok((await goOn()) || (await goOn()), 'the next writer meets one conflict after the other')
      },
    },
  ],
}
