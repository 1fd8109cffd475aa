import type { TokenRecord, TokenStore, Versioned } from '@owner-sso/token-manager'
import { describe, expect, jest, test } from '@jest/globals'
import { tokenStoreConformance, writeUntilKilled } from '../src/index.ts'
import { brokenStores, claiming, sharingPlaces, storeOfReferences } from './broken-stores.ts'
import { conformance } from './recording-runner.ts'

function fail(): never {
  throw new Error('the record is frozen')
}

describe('a correct store passes', () => {
  tokenStoreConformance({ describe, test, ...claiming() })

  test('also one whose writer died before its first write', async () => {
    const rule = 'keeps what was acknowledged to a writer that dies in the middle of the next write'
    const { ran, failed } = await conformance({ ...claiming(), crash: async () => 0 }, rule)
    expect([ran, [...failed]]).toEqual([[rule], []])
  })

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

  test('a store that tells the losers of a race that they won fails, too', async () => {
    const rule = 'lets exactly one of many swaps over the same version win'
    let race: Promise<unknown> | undefined
    const { failed } = await conformance(
      claiming({}, (store) => ({
        ...store,
        swap: async (account, expected, record, writeId, options) => {
          if (race !== undefined) return race.then(() => ({ version: expected + 1, record, writeId }))
          race = store.swap(account, expected, record, writeId, options)
          return store.swap(account, expected, record, writeId, options).finally(() => (race = undefined))
        },
      })),
      rule,
    )
    expect([...failed.keys()]).toEqual([rule])
  })

  test.each(sharingPlaces)('a store that shares a record which %s fails, too', async (place) => {
    const rule = 'is not changed by a caller who changes a record that went in or came out'
    const { failed } = await conformance({ createStore: () => storeOfReferences(place) }, rule)
    expect([...failed.keys()]).toEqual([rule])
  })

  test.each<[string, (record: TokenRecord) => void]>([
    ['a record', (record) => Reflect.defineProperty(record, 'seen', { value: true }) || fail()],
    [
      'what is in a record',
      (record) => Reflect.defineProperty(Object(Reflect.get(record, 'mark')).keys, 'seen', { value: true }) || fail(),
    ],
  ])('a store that writes into %s that it was given fails, too', async (_what, writeInto) => {
    const rule = 'reads back exactly the JSON value that was stored'
    const encode = (record: TokenRecord): string => {
      const text = JSON.stringify(record)
      writeInto(record)
      return text
    }
    const { failed } = await conformance(claiming({ encode }), rule)
    expect([...failed]).toEqual([[rule, 'Error: the record is frozen']])
  })

  test('a store that calls back only the last watcher fails, and the suite does not wait for ever', async () => {
    const rule = 'calls a watcher back after a change, and no more once the watch has ended'
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] })
    try {
      const done = new Set<string>()
      const outcome = conformance(
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
      ).finally(() => done.add(rule))
      while (done.size === 0) {
        if (jest.getTimerCount() > 0) jest.advanceTimersToNextTimer()
        await new Promise((resolve) => setImmediate(resolve))
      }
      expect([...(await outcome).failed.keys()]).toEqual([rule])
    } finally {
      jest.useRealTimers()
    }
  })

  test('there is a broken store for each rule', async () => {
    const { ran, failed } = await conformance(claiming())
    expect(ran.toSorted()).toEqual(Object.keys(brokenStores).toSorted())
    expect([...failed]).toEqual([])
  })
})

test('tests only what a store claims, and rejects a claim that it does not know: its rules would not be tested', () => {
  const namesWith = (claims: object): string[] => {
    const names: string[] = []
    const runner = { describe: (_name: string, body: () => void) => body(), test: (name: string) => names.push(name) }
    tokenStoreConformance({ ...runner, createStore: claiming().createStore, ...claims })
    return names
  }
  const always = namesWith({})
  for (const [claim, word] of [
    [{ reopen: claiming().reopen }, 'opened again'],
    [{ accounts: true }, 'lists every account'],
    [{ damage: claiming().damage }, 'can’t be read'],
    [{ watch: true }, 'watcher'],
    [{ crash: claiming().crash }, 'dies'],
  ] as const) {
    expect(namesWith(claim).filter((name) => !always.includes(name))).toEqual([expect.stringContaining(word)])
  }
  expect(() => namesWith({ reopn: () => undefined })).toThrow('Did you mean reopen?')
})

test.each([
  [undefined, 25],
  [2, 2],
])('with histories %j there are %i of them, each on an account of its own', async (histories, count) => {
  const names = new Set<string>()
  const { failed } = await conformance(
    {
      ...claiming({}, (store) => ({
        ...store,
        read: (account) => {
          names.add(account)
          return store.read(account)
        },
      })),
      histories,
    },
    'gives random concurrent reads and swaps one order that all of them agree with',
  )
  const accounts = Array.from({ length: count }, (_, index) => `history-${index + 1}@example.com`)
  expect([[...names], [...failed]]).toEqual([accounts, []])
})

test('names the account that has another’s record, and cuts a long name short', async () => {
  const rule = 'keeps accounts apart, whatever their names'
  const { failed } = await conformance(
    claiming({}, (store) => ({
      ...store,
      read: (account) => store.read(account.length > 100 ? 'ann@example.com' : account),
    })),
    rule,
  )
  expect(failed.get(rule)).toContain(`"${'x'.repeat(40)}" has another account's record`)
})

test('the writer that dies goes on from what is stored, one version after the other, and reports each', async () => {
  const store = claiming().createStore() as TokenStore
  await store.swap('a@example.com', 0, { schema: 1, state: 'signed-out', generation: 1 }, 'first')
  const told: number[] = []
  const dying = writeUntilKilled(store, 'a@example.com', (version) => {
    told.push(version)
    if (version === 3) throw new Error('killed')
  })
  await expect(dying).rejects.toThrow('killed')
  expect([told, (await store.read('a@example.com'))?.version]).toEqual([[2, 3], 3])
})
