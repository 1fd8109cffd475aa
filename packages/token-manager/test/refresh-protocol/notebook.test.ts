/** What other packages of ours keep in the store: two processes never overwrite each other's notes. */
import { randomBytes } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { createTokenManager, notebook, withEncryption } from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'

describe('a notebook', () => {
  it('loses no note of any of its writers', async () => {
    const store = mapStore()
    expect(await notebook(store, 'clients').read()).toEqual({})
    const writers = Array.from({ length: 20 }, (_, index) => `writer ${index}`)
    await Promise.all(
      writers.map((writer) => notebook(store, 'clients').change((notes) => ({ ...notes, [writer]: true }))),
    )
    expect(Object.keys(await notebook(store, 'clients').read()).toSorted()).toEqual(writers.toSorted())
    expect(await notebook(store, 'alerts').read()).toEqual({})
  })

  it('writes nothing where nothing changes, or where the change fails', async () => {
    const store = mapStore()
    const notes = notebook(store, 'clients')
    await notes.change(() => ({ first: 1 }))
    expect(await notes.change((same) => same)).toEqual({ first: 1 })
    await expect(
      notes.change(() => {
        throw new RangeError('no')
      }),
    ).rejects.toThrow(RangeError)
    expect(await store.read('owner-sso:notes:clients')).toMatchObject({ version: 1 })
  })

  it('is the same object while nobody writes, and what another process wrote from then on', async () => {
    const store = mapStore()
    const [here, elsewhere] = [notebook(store, 'clients'), notebook(store, 'clients')]
    await here.change(() => ({ first: 1 }))
    const first = await here.read()
    expect(await here.read()).toBe(first)
    await elsewhere.change(() => ({ second: 2 }))
    expect(await here.read()).toEqual({ second: 2 })
  })

  it('is sealed with the store, is no account, and says so where it is damaged or the key is missing', async () => {
    const store = mapStore()
    const sealed = withEncryption(store, [randomBytes(32)])
    await notebook(sealed, 'clients').change(() => ({ name: 'kitchen' }))
    expect(JSON.stringify(await store.read('owner-sso:notes:clients'))).not.toContain('kitchen')
    await expect(notebook(store, 'clients').read()).rejects.toMatchObject({ reason: 'wrong-key' })
    const tokens = createTokenManager({ issuer: { refresh: () => Promise.reject(new Error('no')) }, store: sealed })
    for await (const name of tokens.accounts()) throw new Error(`${name} is no account`)
    const broken: unknown = { schema: 1, state: 'notes', notes: [] }
    await store.swap(
      'owner-sso:notes:alerts',
      0,
      Object.assign({ schema: 1, state: 'roll-call', call: 'x' } as const, broken),
      'w',
    )
    await expect(notebook(store, 'alerts').change(() => ({}))).rejects.toMatchObject({ reason: 'corrupt' })
  })
})
