/**
 * Rules for what a store may offer in addition to its two operations: a list of accounts, and a hint of changes.
 */
import assert from 'node:assert/strict'
import type { TokenStore } from '@owner-sso/token-manager'
import { oddNames } from './isolation.ts'
import { applied, record } from './records.ts'
import type { RuleGroup } from './rule.ts'

const account = 'a@example.com'
const patience = 5000

export const listing: RuleGroup = {
  name: 'accounts',
  needs: 'accounts',
  rules: {
    'lists every account that has a record, under its own name, once': async ({ store }) => {
      assert.deepEqual(await names(store), [], 'an empty store has no accounts')
      for (const name of oddNames) await applied(store, name, 0, record(name))
      await applied(store, account, 0, record('more'))
      await applied(store, account, 1, { schema: 1, state: 'signed-out', generation: 1 })
      await store.read('never stored')
      assert.deepEqual((await names(store)).toSorted(), [...oddNames, account].toSorted())
    },
  },
}

export const damagedRecord: RuleGroup = {
  name: 'a damaged record',
  needs: 'damage',
  rules: {
    'lists every other account before it says that a record can’t be read': async ({ store, damage }) => {
      const others = Array.from({ length: 8 }, (_, index) => `${index}@example.com`)
      for (const name of [account, ...others]) await applied(store, name, 0, record(name))
      await damage(account)
      await assert.rejects(store.read(account), 'a damaged record was read')
      const found: string[] = []
      // A store that keeps names beside records can still tell this one's.
      const isNamed = await listInto(found, store).then(
        () => true,
        () => false,
      )
      assert.deepEqual(found.toSorted(), [...others, ...(isNamed ? [account] : [])].toSorted())
    },
  },
}

export const changes: RuleGroup = {
  name: 'changes',
  needs: 'watch',
  rules: {
    'calls a watcher back after a change, and no more once the watch has ended': async ({ store, reopen }) => {
      const writer = await reopen()
      await applied(writer, account, 0, record(0))
      const [ended, open] = [watcher(store), watcher(store)]
      await changeUntil(writer, () => ended.calls > 0 && open.calls > 0)
      ended.end()
      ended.end()
      const [before, seen] = [ended.calls, open.calls]
      await changeUntil(writer, () => open.calls > seen)
      open.end()
      assert.equal(ended.calls, before, 'a watcher was called after its end')
    },
  },
}

async function names(store: TokenStore): Promise<string[]> {
  const found: string[] = []
  await listInto(found, store)
  return found
}

async function listInto(found: string[], store: TokenStore): Promise<void> {
  assert.ok(store.accounts !== undefined, 'the store claims accounts() and has none')
  for await (const name of store.accounts()) found.push(name)
}

function watcher(store: TokenStore): { calls: number; end: () => void } {
  assert.ok(store.watch !== undefined, 'the store claims watch() and has none')
  const state = { calls: 0, end: (): void => undefined }
  state.end = store.watch(account, () => (state.calls += 1))
  return state
}

/** A hint may be late or lost, one for each change is not asked for: keep changing until one has come. */
async function changeUntil(store: TokenStore, seen: () => boolean): Promise<void> {
  const deadline = Date.now() + patience
  while (!seen()) {
    assert.ok(Date.now() < deadline, `no watcher was called within ${patience} ms of a change`)
    const version = (await store.read(account))?.version ?? 0
    await applied(store, account, version, record(version + 1))
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
