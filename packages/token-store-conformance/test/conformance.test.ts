import { describe, expect, test } from '@jest/globals'
import { tokenStoreConformance } from '../src/index.ts'
import { brokenStores, claiming } from './broken-stores.ts'
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

  test('and no rule is without its broken store', async () => {
    const { ran, failed } = await conformance(claiming())
    expect(ran.toSorted()).toEqual(Object.keys(brokenStores).toSorted())
    expect([...failed]).toEqual([])
  })
})
