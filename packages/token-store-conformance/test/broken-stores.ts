/** For each rule of the suite a store that breaks it, as a mistake that people make. */
import type { TokenRecord, TokenStore } from '@owner-sso/token-manager'
import type { TokenStoreConformanceOptions } from '../src/index.ts'
import { record as recordOf } from '../src/records.ts'
import { type Faults, plainObjectStore, type Row, sharedData, type SharedData } from './plain-object-store.ts'

type Store = Omit<TokenStoreConformanceOptions, 'describe' | 'test'>

export interface BrokenStore {
  readonly mistake: string
  readonly store: () => Store
}

/** A store with claims: views of one set of data, and a writer that "dies" after three writes. */
export function claiming(
  faults: Faults = {},
  change: (store: TokenStore, data: SharedData) => TokenStore = same,
): Store {
  const data = new WeakMap<TokenStore, SharedData>()
  const open = (shared: SharedData): TokenStore => {
    const store = change(plainObjectStore(shared, faults), shared)
    data.set(store, shared)
    return store
  }
  const reopen = (store: TokenStore): TokenStore => open(data.get(store) ?? sharedData())
  return {
    createStore: () => open(sharedData()),
    reopen,
    accounts: true,
    damage: async (store, account) => {
      const { rows } = data.get(store) ?? sharedData()
      rows.set(account, { version: 1, writeId: 'damaged', text: '{' })
    },
    watch: true,
    crash: async (store, account) => {
      for (let version = 0; version < 3; version += 1) {
        const mark = { version: version + 1, filling: filling(version + 1) }
        await store.swap(account, version, recordOf(mark), `write ${version}`)
      }
      return 3
    },
  }
}

const filling = (version: number): string => `${version};`.repeat(1024)
const same = (store: TokenStore): TokenStore => store
const broken = (mistake: string, store: () => Store): BrokenStore => ({ mistake, store })
const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 1))

/** Where a store may share what is inside a record with its caller. */
export const sharingPlaces = ['goes in', 'comes out of a swap', 'comes out of a read'] as const

/** Copies records, but in one place not what is inside. */
export function storeOfReferences(place: (typeof sharingPlaces)[number]): TokenStore {
  const rows = new Map<string, { version: number; record: TokenRecord }>()
  const copyAt = (here: typeof place, record: TokenRecord): TokenRecord =>
    here === place ? { ...record } : structuredClone(record)
  return {
    read: async (account) => {
      const row = rows.get(account)
      return row && { ...row, record: copyAt('comes out of a read', row.record) }
    },
    swap: async (account, expected, record) => {
      const row = { version: expected + 1, record: copyAt('goes in', record) }
      rows.set(account, row)
      return { ...row, record: copyAt('comes out of a swap', row.record) }
    },
  }
}

export const brokenStores: Readonly<Record<string, BrokenStore>> = {
  'reads undefined where nothing was ever stored': broken('answers an empty record', () =>
    claiming({}, (store) => ({
      ...store,
      read: async (account) => (await store.read(account)) ?? { version: 0, record: recordOf('empty') },
    })),
  ),
  'reads back exactly the JSON value that was stored': broken('cuts text at a NUL, as a C string', () =>
    claiming({ encode: (record) => JSON.stringify(record).replaceAll('\\u0000', '') }),
  ),
  'keeps a record of half a megabyte': broken('has a column of 64 KiB', () =>
    claiming({ encode: (record) => (JSON.stringify(record).length > 65_535 ? '{}' : JSON.stringify(record)) }),
  ),
  'is not changed by a caller who changes a record that went in or came out': broken('shares its objects', () => ({
    createStore: () => storeOfReferences('goes in'),
  })),
  'keeps accounts apart, whatever their names': broken('compares names without case', () =>
    claiming({ key: (account) => account.toLowerCase() }),
  ),
  'never takes two names that are not Unicode for one: it keeps them apart or refuses them': broken(
    'writes names as UTF-8',
    () => claiming({ key: (account) => Buffer.from(account).toString() }),
  ),
  'takes the same write id on two accounts for two writes': broken('has one list of write ids', () => {
    const ids = new Set<string>()
    return claiming({ isRepeat: (_row, id) => ids.has(id) || !ids.add(id) }, (store) => ({
      ...store,
      swap: async (account, expected, next, id) =>
        ids.has(id) ? { version: expected + 1, record: next } : store.swap(account, expected, next, id),
    }))
  }),
  'lists every other account before it says that a record can’t be read': broken(
    'reads what it lists, until it can’t',
    () =>
      claiming({}, (store, { names }) => ({
        ...store,
        async *accounts() {
          for (const name of names.values()) {
            await store.read(name)
            yield name
          }
        },
      })),
  ),
  'counts the versions of each account by itself': broken('has one counter', () => {
    let counter = 0
    return claiming({ mayWrite: (_row, expected) => expected === counter, nextVersion: () => (counter += 1) })
  }),
  'creates over version 0, once': broken('upserts over version 0', () =>
    claiming({ mayWrite: (row, expected) => expected === 0 || row?.version === expected }),
  ),
  'returns a conflict for a stale version and changes nothing': broken('lets the last writer win', () =>
    claiming({ mayWrite: (row, expected) => (expected === 0 ? row === undefined : true) }),
  ),
  'returns a conflict for a version that is not stored yet and changes nothing': broken('compares with <=', () =>
    claiming({ mayWrite: (row, expected) => (row?.version ?? 0) <= expected }),
  ),
  'counts versions up by exactly one and returns what it wrote': broken('counts in tens from ten on', () =>
    claiming({ nextVersion: (_row, expected) => (expected < 10 ? expected + 1 : expected + 10) }),
  ),
  'lets exactly one of many swaps over the same version win': broken('looks, then writes', () =>
    claiming({ pause: turn }),
  ),
  'returns for a repeat of the newest write with the same success and applies it once': broken(
    'knows no write ids',
    () => claiming({ isRepeat: () => false }),
  ),
  'recognises a repeat whatever version it expects, as after reading again': broken('looks at the version first', () =>
    claiming({ isRepeat: (row, id, expected) => row?.writeId === id && row.version === expected + 1 }),
  ),
  'returns a conflict for a repeat after another write and changes nothing': broken('remembers all its answers', () => {
    const answers = new Map<string, Awaited<ReturnType<TokenStore['swap']>>>()
    return claiming({}, (store) => ({
      ...store,
      swap: async (account, expected, next, id) => {
        const answer = answers.get(account + id) ?? (await store.swap(account, expected, next, id))
        answers.set(account + id, answer)
        return answer
      },
    }))
  }),
  'does not take a write that met a conflict for one that was applied': broken('notes the id before it looks', () =>
    claiming({
      onConflict: (rows, key, writeId) => {
        const row = rows.get(key)
        if (row) rows.set(key, { ...row, writeId } satisfies Row)
      },
    }),
  ),
  'applies a write once that is sent several times at the same moment': broken(
    'refuses an id that is under way',
    () => {
      const underWay = new Set<string>()
      return claiming({}, (store) => ({
        ...store,
        swap: async (account, expected, next, id) => {
          if (underWay.has(id)) return { conflict: true }
          underWay.add(id)
          return store.swap(account, expected, next, id).finally(() => underWay.delete(id))
        },
      }))
    },
  ),
  'tells with each record the id of the write that it is': broken('keeps the id to itself', () =>
    claiming({}, (store) => ({
      ...store,
      read: async (account) => {
        const stored = await store.read(account)
        return stored && { version: stored.version, record: stored.record }
      },
    })),
  ),
  'returns a conflict where another write is stored under the expected version, as after the store was emptied': broken(
    'compares versions alone',
    () => claiming({ isExpected: () => true }),
  ),
  'returns for a repeat of the newest write with the same success, whatever write it expects': broken(
    'compares the expected write first',
    () =>
      claiming({}, (store) => ({
        ...store,
        swap: async (account, expected, next, id, options = {}) => {
          const { expectedWriteId: asked } = options
          if (asked !== undefined && (await store.read(account))?.writeId !== asked) return { conflict: true }
          return store.swap(account, expected, next, id, options)
        },
      })),
  ),
  'gives random concurrent reads and swaps one order that all of them agree with': broken('reads from a replica', () =>
    claiming({}, (store) => {
      let replica: Awaited<ReturnType<TokenStore['read']>>
      return {
        ...store,
        read: async (account) => {
          const behind = replica
          replica = await store.read(account)
          return behind
        },
      }
    }),
  ),
  'keeps records, versions and the newest write id when it is opened again': broken('forgets write ids', () => ({
    ...claiming(),
    reopen: (store) => ({ ...store, swap: (account, expected, next) => store.swap(account, expected, next, 'new') }),
  })),
  'keeps what was acknowledged to a writer that dies in the middle of the next write': broken('saves later', () => {
    const store = claiming()
    return { ...store, crash: async (...call) => 2 + ((await store.crash?.(...call)) ?? 0) }
  }),
  'lists every account that has a record, under its own name, once': broken('lists what was once asked for', () =>
    claiming({}, (store, { names }) => ({
      ...store,
      read: async (account) => {
        names.set(account, account)
        return store.read(account)
      },
    })),
  ),
  'calls a watcher back after a change, and no more once the watch has ended': broken('never ends a watch', () =>
    claiming({}, (store) => ({
      ...store,
      watch: (account, onChange) => {
        store.watch?.(account, onChange)
        return () => undefined
      },
    })),
  ),
}
