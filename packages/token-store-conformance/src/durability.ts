/**
 * Rules for stores whose records outlive the process that wrote them.
 */
import assert from 'node:assert/strict'
import type { TokenRecord, TokenStore } from '@owner-sso/token-manager'
import { applied, expectStored, isConflict, record, same, writeId } from './records.ts'
import type { RuleGroup } from './rule.ts'

const owner = 'a@example.com'

export const durability: RuleGroup = {
  name: 'durability',
  needs: 'reopen',
  rules: {
    'keeps records, versions and the newest write id when it is opened again': async ({ store, reopen }) => {
      const id = writeId()
      await applied(store, owner, 0, record(1))
      await applied(store, owner, 1, record(2), id)
      const again = await reopen()
      expectStored(await again.read(owner), 2, record(2))
      assert.ok(isConflict(await again.swap(owner, 1, record('stale'), writeId())))
      assert.equal((await applied(again, owner, 1, record(2), id)).version, 2)
      await applied(again, owner, 2, record(3))
      expectStored(await store.read(owner), 3, record(3))
    },
  },
}

export const dyingWriter: RuleGroup = {
  name: 'a dying writer',
  needs: 'crash',
  rules: {
    'keeps what was acknowledged to a writer that dies in the middle of the next write': async ({ store, crash }) => {
      const acknowledged = await crash(owner)
      const goOn = async (): Promise<boolean> => {
        const stored = await store.read(owner)
        const version = stored?.version ?? 0
        assert.ok(version >= acknowledged, `version ${acknowledged} was acknowledged, ${version} is left`)
        assert.ok(version <= acknowledged + 1, `version ${version} is stored, ${acknowledged} was acknowledged`)
        if (stored) same(stored.record, written(version), 'the record is not the one that was written')
        return !isConflict(await store.swap(owner, version, record('the next writer goes on'), writeId()))
      }
      // A server may finish the dead writer's last write after it was read: that is the one conflict.
      assert.ok((await goOn()) || (await goOn()), 'the next writer meets one conflict after the other')
    },
  },
}

/** The record that the writer stores as this version: a few kilobytes, so that a torn one shows. */
function written(version: number): TokenRecord {
  return record({ version, filling: `${version};`.repeat(1024) })
}

/**
 * Writes version after version of an account until the process is killed.
 *
 * @param acknowledge - told each version once `swap` has answered; pass it on to the killer in a way that survives the
 *   kill, such as a synchronous write to a pipe.
 */
export async function writeUntilKilled(
  store: TokenStore,
  account: string,
  acknowledge: (version: number) => void,
): Promise<never> {
  let version = (await store.read(account))?.version ?? 0
  for (;;) {
    version = (await applied(store, account, version, written(version + 1))).version
    acknowledge(version)
  }
}
