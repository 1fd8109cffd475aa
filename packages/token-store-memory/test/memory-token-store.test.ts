/** What is special about a store in memory: objects could be shared, and watchers are called by the store itself. */
import { describe, expect, it } from '@jest/globals'
import type { TokenRecord } from '@owner-sso/token-manager'
import { memoryTokenStore } from '../src/index.ts'

const record: TokenRecord = { schema: 1, state: 'signed-out', generation: 1 }

describe('a store in memory', () => {
  it('shares no object with whoever writes or reads', async () => {
    const store = memoryTokenStore()
    const written = { ...record, generation: 1 }
    const answer = await store.swap('ann', 0, written, 'w')
    written.generation = 2
    if ('record' in answer) Object.assign(answer.record, { generation: 3 })
    const read = await store.read('ann')
    Object.assign(read?.record ?? {}, { generation: 4 })
    expect(await store.read('ann')).toMatchObject({ version: 1, record })
  })

  it('rejects options: they would promise what it does not do', () => {
    expect(() => memoryTokenStore({ encryptionKey: new Uint8Array(32) } as never)).toThrow('takes no options')
  })

  it('has nothing in common with another one', async () => {
    const store = memoryTokenStore()
    await store.swap('ann', 0, record, 'w')
    expect(await memoryTokenStore().read('ann')).toBeUndefined()
  })

  it('calls each watcher of an account, once the write can be read, until it is ended', async () => {
    const store = memoryTokenStore()
    const seen: (number | undefined)[] = []
    const onChange = (): void => {
      void store.read('ann').then((stored) => seen.push(stored?.version))
    }
    const [one, two] = [store.watch('ann', onChange), store.watch('ann', onChange)]
    const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
    await store.swap('ann', 0, record, '1')
    await store.swap('ben', 0, record, '1')
    await settle()
    expect(seen).toEqual([1, 1])
    one()
    await store.swap('ann', 1, record, '2')
    await settle()
    expect(seen).toEqual([1, 1, 2])
    two()
    two()
    await store.swap('ann', 2, record, '3')
    await settle()
    expect(seen).toEqual([1, 1, 2])
  })
})
