/** What the token manager makes of an issuer's errors: the table of `TokenIssuer`. */
import { describe, expect, it } from '@jest/globals'
import {
  FirewallChallengeError,
  ReauthenticationRequiredError,
  SsoError,
  TokenRejectedError,
  type TokenSet,
  UnreachableError,
} from '../../src/index.ts'
import { account, type Bench, signedIn } from '../refresh-protocol/harness.ts'

const hour = 3_600_000
const step = 'refresh'

/** An expired account, and an issuer that answers a refresh like this. */
async function issuing(answer: Bench['answer']): Promise<Bench> {
  const { world } = await signedIn(9 * hour)
  world.answer = answer
  return world
}

describe('an issuer that throws', () => {
  it.each([
    {
      name: 'a final refusal ends the session',
      thrown: () => new ReauthenticationRequiredError('refresh_token_rejected', { step, status: 400 }),
      state: 'reauthentication-required',
      sent: 1,
    },
    {
      name: 'a refusal for another reason leaves the refresh token as it was',
      thrown: () => new TokenRejectedError('invalid_client', { step, status: 401 }),
      state: 'expired',
      sent: 2,
    },
    {
      name: 'that nothing was sent leaves the refresh token as it was',
      thrown: () => new UnreachableError('The issuer is not reached.', { step, requestSent: false }),
      state: 'expired',
      sent: 2,
    },
    {
      name: 'a firewall challenge keeps all processes from sending',
      thrown: (world: Bench) => new FirewallChallengeError(world.now() / 1000 + 86_400, { step }),
      state: 'expired',
      sent: 1,
    },
    {
      name: 'that a request was sent leaves it in doubt',
      thrown: () => new UnreachableError('The connection broke.', { step, requestSent: true }),
      state: 'in-doubt',
      sent: 2,
    },
    {
      name: 'an error of its own leaves it in doubt',
      thrown: () => new RangeError('anything'),
      state: 'in-doubt',
      sent: 2,
    },
  ])('$name', async ({ thrown, state, sent }) => {
    const world = await issuing(async () => {
      throw thrown(world)
    })
    await expect(world.process().getAccessToken(account)).rejects.toBeInstanceOf(SsoError)
    expect(await world.process().status(account)).toMatchObject({ state })
    // A replay, or another try, an hour later: only where the refresh token may still be good.
    await world.pass(hour)
    await expect(world.process().getAccessToken(account)).rejects.toBeInstanceOf(SsoError)
    expect(world.sent).toHaveLength(sent)
  })
})

describe('a token set that an issuer returns', () => {
  it.each(['refresh_token', 'auth_url', 'expires_at', 'token_type'] as const)(
    'without its %s is completed and kept: it may be the only valid one',
    async (field) => {
      const world = await issuing(async () => without(field, world))
      const accessToken = await world.process().getAccessToken(account)
      expect(accessToken).toBe('a1')
      // As every other process reads it.
      await expect(world.process().getAccessToken(account)).resolves.toBe('a1')
      expect(await world.process().status(account)).toMatchObject({ state: 'valid', auth_url: world.tokens().auth_url })
      await world.pass(9 * hour)
      await world.process().getAccessToken(account)
      expect(world.sent).toEqual(['r0', field === 'refresh_token' ? 'r0' : 'r1'])
    },
  )

  it('with its end in milliseconds is kept, with the documented life', async () => {
    const world = await issuing(async () => world.tokens({ access_token: 'a1', expires_at: world.now() + hour }))
    await world.process().getAccessToken(account)
    expect(await world.process().status(account)).toMatchObject({ expires_at: world.now() / 1000 + 28_800 })
  })

  it('without an access token leaves the refresh token in doubt, and the event says why', async () => {
    const world = await issuing(async () => without('access_token', world))
    const tokens = world.process()
    const heard: string[] = []
    tokens.on('refresh-failed', ({ error }) => heard.push(error.message))
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_REFRESH_IN_DOUBT' })
    expect(await tokens.status(account)).toMatchObject({ state: 'in-doubt' })
    expect(heard).toEqual([expect.stringContaining('it holds no usable tokens')])
  })
})

function without(field: keyof TokenSet, world: Bench): TokenSet {
  const { [field]: _left, ...others } = world.tokens({ access_token: 'a1', refresh_token: 'r1' })
  return others as TokenSet
}
