/** One refresh token under two accounts: both would send it, and the service would end the session. */
import { createHash } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { withEncryption } from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { anyRecord, bench, hours, namesIn } from './harness.ts'

const duplicate = { name: 'DuplicateTokenSetError', code: 'ERR_SSO_STORE', reason: 'duplicate', account: 'first' }

describe('a refresh token that is saved under a second account', () => {
  it('is refused, by any process, with the name of the first; nothing is stored', async () => {
    const world = bench()
    await world.process().save('first', world.tokens())
    const second = world.process()
    await expect(second.save('second', world.tokens({ access_token: 'other' }))).rejects.toMatchObject(duplicate)
    expect(await second.status('second')).toEqual({ state: 'signed-out' })
    expect(await world.store.read('second')).toBeUndefined()
    const names = await namesIn(second)
    expect(names).toEqual(['first'])
  })

  it('is refused after the first account was refreshed: it is spent', async () => {
    const world = bench()
    const tokens = world.process()
    await tokens.save('first', world.tokens())
    await world.pass(hours(8))
    await tokens.getAccessToken('first')
    await expect(tokens.save('second', world.tokens())).rejects.toMatchObject(duplicate)
    expect(world.sent).toEqual(['r0'])
  })

  it('is taken once the first account has signed out, or signed in again', async () => {
    const world = bench()
    const tokens = world.process()
    await tokens.save('first', world.tokens())
    await tokens.forget('first')
    await tokens.save('renamed', world.tokens())
    await tokens.save('renamed', world.tokens({ refresh_token: 'r9' }))
    await tokens.save('again', world.tokens())
    expect(await tokens.getAccessToken('again')).toBe('a0')
  })

  it('is taken under the same account as often as one likes', async () => {
    const world = bench()
    for (const access_token of ['one', 'two', 'three']) {
      await world.process().save('first', world.tokens({ access_token }))
      expect(await world.process().getAccessToken('first')).toBe(access_token)
    }
  })

  it('is taken where the first save never came to its end', async () => {
    const world = bench()
    const { store } = world
    const broken = world.process({
      store: {
        ...store,
        swap: async (name, ...write) => {
          if (name === 'first') throw new Error('no')
          return store.swap(name, ...write)
        },
      },
    })
    await expect(broken.save('first', world.tokens())).rejects.toMatchObject({ reason: 'write-failed' })
    await world.process().save('second', world.tokens())
    expect(await world.process().getAccessToken('second')).toBe('a0')
  })

  it('is recognised in a sealed store too, and nothing in the store or the error shows it', async () => {
    const world = bench()
    const beneath = mapStore()
    const store = withEncryption(beneath, [Buffer.alloc(32, 1)])
    const tokens = world.process({ store })
    const secret = 'a-refresh-token-that-nobody-may-see'
    await tokens.save('first', world.tokens({ refresh_token: secret }))
    const error: unknown = await tokens
      .save('second', world.tokens({ refresh_token: secret }))
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject(duplicate)
    const names = await namesIn(beneath)
    expect(names.filter((name) => name.startsWith('owner-sso:refresh-tokens:'))).toHaveLength(1)
    expect(inspect([error, names], { depth: 9, showHidden: true })).not.toContain(secret)
  })
})

describe('the index', () => {
  it('never keeps a sign-in from being saved, and tells that it failed', async () => {
    const world = bench()
    const tokens = world.process({
      store: {
        ...world.store,
        read: async (name) => {
          if (name.startsWith('owner-sso:')) return { version: 1, record: anyRecord({ state: 'poisoned' }) }
          return world.store.read(name)
        },
      },
    })
    const heard: unknown[] = []
    tokens.on('not-indexed', ({ account, error }) => heard.push([account, error.reason]))
    await tokens.save('first', world.tokens())
    expect(heard).toEqual([['first', 'corrupt']])
    expect(await tokens.status('first')).toMatchObject({ state: 'valid' })
  })

  it('is bounded: in each of its records the oldest sign-in makes room', async () => {
    const world = bench()
    const tokens = world.process()
    // Tokens that are noted in the same record, one more than there is room for.
    const inOneRecord = (token: string): boolean =>
      createHash('sha256').update('owner-sso refresh token ').update(token).digest().readUInt16BE(0) % 1024 === 0
    const saved: string[] = []
    for (let index = 0; saved.length < 65; index += 1) if (inOneRecord(`r-${index}`)) saved.push(`r-${index}`)
    for (const [index, refresh_token] of saved.entries()) {
      await tokens.save(`owner-${index}`, world.tokens({ refresh_token }))
    }
    await tokens.save('second', world.tokens({ refresh_token: saved[0] ?? '' }))
    const another = tokens.save('second', world.tokens({ refresh_token: saved[64] ?? '' }))
    await expect(another).rejects.toMatchObject({ reason: 'duplicate', account: 'owner-64' })
  })
})
