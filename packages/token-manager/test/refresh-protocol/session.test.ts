/** Signing in and out, what the manager tells about an account, and what it does not take. */
import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { createTokenManager, ReauthenticationRequiredError, type TokenRecord, type TokenSet } from '../../src/index.ts'
import { tokenSet } from '../../src/support.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { account, bench, hours, signedIn } from './harness.ts'

describe('an account', () => {
  it('is signed out, valid, ageing, expired and signed out again', async () => {
    const world = bench()
    const [tokens, other] = [world.process(), world.process()]
    expect(await tokens.status(account)).toEqual({ state: 'signed-out' })
    await tokens.save(account, world.tokens())
    const obtained_at = world.now() / 1000
    const refresh_due_at: unknown = expect.any(Number)
    const facts = { expires_at: obtained_at + 28_800, obtained_at, auth_url: 'http://127.0.0.1:9', refresh_due_at }
    expect(await other.status(account)).toEqual({ state: 'valid', ...facts })
    await world.pass(hours(8))
    expect(await tokens.status(account)).toEqual({ state: 'expired', ...facts })
    await tokens.forget(account)
    expect(await other.status(account)).toEqual({ state: 'signed-out' })
    const signedOut = { code: 'ERR_SSO_SIGNED_OUT', step: 'token-manager', requestSent: false }
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject(signedOut)
    await expect(other.refresh(account)).rejects.toMatchObject(signedOut)
    // Who never heard of the account.
    await expect(world.process().getAccessToken(account)).rejects.toMatchObject(signedOut)
  })

  it('that signs out is served no more, by the process that served it a moment ago', async () => {
    const { tokens } = await signedIn()
    for (let call = 0; call < 2; call += 1) expect(await tokens.getAccessToken(account)).toBe('a0')
    await tokens.forget(account)
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_SIGNED_OUT' })
  })

  it('goes by what was saved last of the same access token: it may end sooner or later than was thought', async () => {
    const { world, tokens, other } = await signedIn()
    await other.getAccessToken(account)
    await world.pass(hours(1))
    const sooner = world.now() / 1000 + 600
    await tokens.save(account, world.tokens({ expires_at: sooner }))
    for (const one of [tokens, other]) expect(await one.status(account)).toMatchObject({ expires_at: sooner })
    await world.pass(601_000)
    for (const one of [tokens, other]) expect(await one.status(account)).toMatchObject({ state: 'expired' })
    await tokens.save(account, world.tokens())
    await world.pass(hours(3))
    for (const one of [tokens, other]) expect(await one.getAccessToken(account)).toBe('a0')
    expect(world.sent).toEqual([])
    await world.pass(hours(5))
    expect(await other.getAccessToken(account)).toBe('a1')
  })

  it('whose access token was refused is as good as expired', async () => {
    const { world, tokens } = await signedIn()
    await tokens.invalidate(account, 'another')
    expect(await tokens.status(account)).toMatchObject({ state: 'valid' })
    await world.process().invalidate(account, 'a0')
    await tokens.invalidate(account, 'a0')
    expect(await tokens.status(account)).toMatchObject({ state: 'expired' })
  })

  it('keeps its working access token after its refresh token was refused, and asks for a sign-in after that', async () => {
    const { world, tokens } = await signedIn()
    world.answer = () => Promise.reject(new ReauthenticationRequiredError('refresh_token_rejected'))
    await expect(tokens.refresh(account)).rejects.toMatchObject({ reason: 'refresh_token_rejected' })
    expect(await tokens.getAccessToken(account)).toBe('a0')
    expect(await tokens.status(account)).toMatchObject({
      state: 'reauthentication-required',
      reason: 'refresh_token_rejected',
    })
    await world.pass(hours(8))
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_REAUTHENTICATION_REQUIRED' })
    expect(world.sent).toEqual(['r0'])
  })

  it('begins and ends with a record that asks the store to forget all before it; a refresh does not', async () => {
    const world = bench()
    const asked: unknown[] = []
    const { store } = world
    const process = world.process({
      minRefreshInterval: 0,
      store: {
        ...store,
        swap: async (...write) => {
          const [name, , { state }, , options] = write
          if (name === account) asked.push([state, options?.forgetOlder ?? false])
          return store.swap(...write)
        },
      },
    })
    await process.save(account, world.tokens())
    await process.refresh(account)
    await process.forget(account)
    expect(asked).toEqual([
      ['signed-in', true],
      ['signed-in', false],
      ['signed-in', false],
      ['signed-out', true],
    ])
  })

  it('that nobody knows leaves no trace when it is forgotten', async () => {
    const world = bench()
    await world.process().forget(account)
    expect(await world.store.read(account)).toBeUndefined()
  })

  it('is told by memory where the store is down', async () => {
    const { world, tokens } = await signedIn()
    world.store.down = true
    expect(await tokens.status(account)).toMatchObject({ state: 'valid' })
    await expect(tokens.forget(account)).rejects.toMatchObject({ code: 'ERR_SSO_STORE' })
  })

  it('shows no token when a record is printed', async () => {
    const world = bench()
    const tokens = world.process()
    const swapped: unknown[] = []
    const swap = world.store.swap.bind(world.store)
    world.store.swap = async (...args) => {
      if (args[0] === account) swapped.push(args[2])
      return swap(...args)
    }
    await tokens.save(account, world.tokens())
    await tokens.refresh(account)
    expect(swapped).toHaveLength(3)
    expect(inspect(swapped, { depth: 9 })).not.toMatch(/'[ar][01]'/u)
  })

  it('gives a store all of a record, whichever way it goes through the fields', async () => {
    const world = bench()
    const tokens = world.process()
    const swap = world.store.swap.bind(world.store)
    world.store.swap = async (name, expected, next, ...more) => swap(name, expected, structuredClone(next), ...more)
    await tokens.save(account, world.tokens())
    await tokens.refresh(account)
    expect(await tokens.getAccessToken(account)).toBe('a1')
    expect(await world.process().getAccessToken(account)).toBe('a1')
  })
})

describe('a manager', () => {
  it('tells listeners of what happens until they have heard enough', async () => {
    const { world, tokens } = await signedIn()
    const heard: unknown[] = []
    const end = tokens.on('refreshed', (event) => heard.push(event))
    await tokens.refresh(account)
    expect(heard).toEqual([{ account, expires_at: world.now() / 1000 + 28_800, replay: false }])
    end()
    await world.pass(61_000)
    await tokens.refresh(account)
    expect(heard).toHaveLength(1)
  })

  const issuer = { refresh: async () => bench().tokens() }
  it.each<[string, object]>([
    ['issuer must be what createSso() returns, or another TokenIssuer', { issuer: {} }],
    ['store must be a token store', { store: {} }],
    ['refreshAfter must be a fraction above 0, at most 1; 0 came', { refreshAfter: 0 }],
    ['refreshAfter must be a fraction above 0, at most 1; 1.1 came', { refreshAfter: 1.1 }],
    ['refreshAfter must be a fraction above 0, at most 1; NaN came', { refreshAfter: Number.NaN }],
    ['minRefreshInterval must be a number of seconds, 0 or more; -1 came', { minRefreshInterval: -1 }],
    ['minRefreshInterval must be a number of seconds, 0 or more; text came', { minRefreshInterval: '60' }],
    ['minRefreshInterval must be a number of seconds, 0 or more; Infinity came', { minRefreshInterval: Infinity }],
    ['rotationGrace must be a number of seconds, 0 or more; -0.5 came', { rotationGrace: -0.5 }],
    ['cachedAccounts must be a whole number, 1 or more; 0 came', { cachedAccounts: 0 }],
    ['cachedAccounts must be a whole number, 1 or more; 1.5 came', { cachedAccounts: 1.5 }],
    ['requestBudget: perMinute must be a whole number, 2 or more', { requestBudget: {} }],
  ])('says “%s” for %j', (message, wrong) => {
    const options = { issuer, store: mapStore(), ...wrong }
    expect(() => Reflect.apply(createTokenManager, undefined, [options])).toThrow(new TypeError(message))
  })
})

describe('a copy of a token set that lost its tokens', () => {
  const world = bench()
  const explained = /spread.*Object\.assign.*structuredClone.*save the token set itself/su

  it.each([
    ['a spread', (tokens: TokenSet) => ({ ...tokens })],
    ['Object.assign', (tokens: TokenSet) => Object.assign({}, tokens)],
    ['structuredClone', (tokens: TokenSet) => structuredClone(tokens)],
  ])('(%s) is refused by save, which says how it came about and what to do (A11)', async (_, copy) => {
    const tokens = world.process()
    const copied = copy(tokenSet(world.tokens()))
    await expect(tokens.save(account, copied)).rejects.toThrow(TypeError)
    await expect(tokens.save(account, copied)).rejects.toThrow(explained)
    expect(await world.store.read(account)).toBeUndefined()
  })

  it('is named as that where a store holds one', async () => {
    const tokens = world.process()
    await tokens.save(account, world.tokens())
    const stored = await world.store.read(account)
    const record = { ...stored?.record, tokens: { ...tokenSet(world.tokens()) } }
    world.store.put(account, { version: 2, writeId: 'theirs', record: record as TokenRecord })
    await expect(world.process().getAccessToken(account)).rejects.toMatchObject({
      reason: 'corrupt',
      message: expect.stringMatching(/spread.*Object\.assign.*structuredClone/su),
    })
  })

  it('is no copy that went through JSON', async () => {
    const tokens = world.process()
    await tokens.save('another', JSON.parse(JSON.stringify(tokenSet(world.tokens()))))
    expect(await tokens.getAccessToken('another')).toBe('a0')
  })
})

it('a service that answers a refresh with the tokens that it has given before leaves nothing in doubt', async () => {
  const { world, tokens, other } = await signedIn(hours(7))
  world.answer = async () => world.tokens()
  await tokens.refresh(account)
  expect((await world.store.read(account))?.record).not.toHaveProperty('intent')
  await world.pass(hours(7))
  expect(await other.status(account)).toMatchObject({ state: 'valid' })
})
