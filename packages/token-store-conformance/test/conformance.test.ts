import type { TokenStore, Versioned } from '@owner-sso/core'
import { describe, expect, test } from '@jest/globals'
import { tokenStoreConformance } from '../src/index.ts'
import { brokenStores, claiming, sharingPlaces, storeOfReferences } from './broken-stores.ts'
import { conformance } from './recording-runner.ts'

describe('a correct store passes', () => {
  tokenStoreConformance({ describe, test, ...claiming() })

  test('also one that answers at once, and tells of changes later', async () => {
    const rule = 'calls a watcher back after a change, and no more once the watch has ended'
    const rows = new Map<string, Versioned>()
    const watchers = new Set<() => void>()
    const store: TokenStore = {
      read: async (account) => rows.get(account),
      swap: async (account, expected, record, writeId) => {
        const row = { version: expected + 1, record, writeId }
        rows.set(account, row)
        setTimeout(() => watchers.forEach((tell) => tell()), 1)
        return row
      },
      watch: (_account, onChange) => {
        const tell = (): void => onChange()
        watchers.add(tell)
        return () => void watchers.delete(tell)
      },
    }
    const { ran, failed } = await conformance({ createStore: () => store, watch: true }, rule)
    expect([ran, [...failed]]).toEqual([[rule], []])
  })
})

describe('a broken store fails, for each rule', () => {
  test.each(Object.entries(brokenStores))('%s', async (rule, { store }) => {
    const { ran, failed } = await conformance(store(), rule)
    expect(ran).toEqual([rule])
    expect([...failed.keys()]).toEqual([rule])
  })

  test('and the calls that no order explains are told in the order in which they began', async () => {
    const rule = 'gives random concurrent reads and swaps one order that all of them agree with'
    const { failed } = await conformance(brokenStores[rule]!.store(), rule)
    const began = Array.from(String(failed.get(rule)).matchAll(/"from":(\d+)/gu), ([, time]) => Number(time))
    expect(began.length).toBeGreaterThan(8)
    expect(began).toEqual(began.toSorted((one, other) => one - other))
  })

  test.each(sharingPlaces)('and so does one that shares what %s', async (place) => {
    const rule = 'is not changed by a caller who changes a record that went in or came out'
    const { failed } = await conformance({ createStore: () => storeOfReferences(place) }, rule)
    expect([...failed.keys()]).toEqual([rule])
  })

  test('and so does one that calls back the watcher alone that came last', async () => {
    const rule = 'calls a watcher back after a change, and no more once the watch has ended'
    const { failed } = await conformance(
      claiming({}, (store) => {
        let end: (() => void) | undefined
        return {
          ...store,
          watch: (account, onChange) => {
            end?.()
            return (end = store.watch?.(account, onChange)) ?? (() => undefined)
          },
        }
      }),
      rule,
    )
    expect([...failed.keys()]).toEqual([rule])
  })

  test('and no rule is without its broken store', async () => {
    const { ran, failed } = await conformance(claiming())
    expect(ran.toSorted()).toEqual(Object.keys(brokenStores).toSorted())
    expect([...failed]).toEqual([])
  })
})
