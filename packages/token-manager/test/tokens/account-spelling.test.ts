/** One person is one account, however they spell their e-mail; who was once saved under another spelling is still found. */
import { describe, expect, it } from '@jest/globals'
import { account, bench, namesIn } from '../refresh-protocol/harness.ts'

describe('an e-mail in capitals, or with spaces around it', () => {
  it.each(['Owner@Example.com', ' owner@example.com\n', 'OWNER@EXAMPLE.COM'])(
    '%j is the same account',
    async (spelled) => {
      const world = bench()
      const [one, other] = [world.process({ minRefreshInterval: 0 }), world.process({ minRefreshInterval: 0 })]
      await one.save(spelled, world.tokens())
      expect(await namesIn(one)).toEqual([account])
      for (const tokens of [one, other]) {
        for (const name of [spelled, account, spelled]) expect(await tokens.getAccessToken(name)).toBe('a0')
      }
      expect(await other.getTokens(spelled)).toMatchObject({ access_token: 'a0' })
      await other.refresh(spelled)
      other.accepted(spelled, 'a1')
      expect(await other.invalidate(spelled, 'a1')).toBe(false)
      expect(await other.getAccessToken(spelled, { minValidity: 1 })).toBe('a2')
      expect(await other.status(spelled)).toMatchObject({ state: 'valid' })
      await other.forget(spelled)
      expect(await other.status(account)).toMatchObject({ state: 'signed-out' })
    },
  )

  it('asks the store once whether somebody has that very name', async () => {
    const world = bench()
    await world.process().save(account, world.tokens())
    const reads: string[] = []
    const tokens = world.process({
      store: { ...world.store, read: async (name) => (reads.push(name), world.store.read(name)) },
    })
    for (let time = 0; time < 9; time += 1) await tokens.getAccessToken('Owner@example.com')
    expect(reads.filter((name) => name !== account && name.includes('@'))).toEqual(['Owner@example.com'])
  })
})

describe('a record under another spelling, of a program that did not compare so', () => {
  it('is found under that name until it is signed out, beside the account of the usual spelling', async () => {
    const world = bench()
    await world.process().save(account, world.tokens())
    const { record } = (await world.store.read(account)) ?? {}
    if (record === undefined) throw new Error('not saved')
    world.store.clear()
    await world.store.swap('Owner@example.com', 0, record, 'of a former release')
    const tokens = world.process()
    await tokens.save(account, world.tokens({ access_token: 'b0', refresh_token: 's0' }))
    expect(await namesIn(tokens)).toEqual(['Owner@example.com', account])
    for (const each of [tokens, world.process()]) {
      expect(await each.getAccessToken('Owner@example.com')).toBe('a0')
      expect(await each.getAccessToken('OWNER@example.com')).toBe('b0')
    }
    await tokens.forget('Owner@example.com')
    for (const each of [tokens, world.process()]) expect(await each.getAccessToken('Owner@example.com')).toBe('b0')
  })
})

it.each(['User42', 'sub:ABC', 'Ann', 'urn:X@Y'])('%s is no e-mail: its capitals count', async (name) => {
  const world = bench()
  const tokens = world.process()
  await tokens.save(name, world.tokens())
  expect(await namesIn(tokens)).toEqual([name])
  await expect(tokens.getAccessToken(name.toLowerCase())).rejects.toMatchObject({ code: 'ERR_SSO_SIGNED_OUT' })
})
