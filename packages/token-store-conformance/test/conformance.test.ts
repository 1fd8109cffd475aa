import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { tokenStoreConformance } from '../src/index.ts'
import { brokenStores, claiming } from './broken-stores.ts'
import { conformance } from './recording-runner.ts'
import { jsonFileStore } from './third-party.ts'

describe('a correct store passes', () => {
  tokenStoreConformance({ describe, test, ...claiming() })
})

describe('a store that somebody else wrote in thirty lines passes', () => {
  let folder: string
  let count = 0
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'third-party-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  tokenStoreConformance({
    describe,
    test,
    histories: 5,
    createStore: () => jsonFileStore(join(folder, `${(count += 1)}.json`)),
  })
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
