/** One person is one account, however they spell their e-mail. */
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
})

it.each(['User42', 'sub:ABC', 'Ann', 'urn:X@Y'])('%s is no e-mail: its capitals count', async (name) => {
  const world = bench()
  const tokens = world.process()
  await tokens.save(name, world.tokens())
  expect(await namesIn(tokens)).toEqual([name])
  await expect(tokens.getAccessToken(name.toLowerCase())).rejects.toMatchObject({ code: 'ERR_SSO_SIGNED_OUT' })
})
