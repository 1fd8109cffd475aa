import { describe, expect, test } from '@jest/globals'
import { tokenStoreConformance } from '../src/index.ts'
import { brokenStores, claiming, sharingPlaces, storeOfReferences } from './broken-stores.ts'
import { conformance } from './recording-runner.ts'

describe('a correct store passes', () => {
  tokenStoreConformance({ describe, test, ...claiming() })
})

describe('a broken store fails, for each rule', () => {
  test.each(Object.entries(brokenStores))('%s', async (rule, { store }) => {
    const { ran, failed } = await conformance(store(), rule)
    expect(ran).toEqual([rule])
    expect([...failed.keys()]).toEqual([rule])
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
