/** A refresh token that somebody brings along, without an access token: what it may replace, and whose it turns out to be. */
import { describe, expect, it } from '@jest/globals'
import {
  OtherOwnerError,
  ReauthenticationRequiredError,
  SessionExistsError,
  type TokenManager,
  UnreachableError,
} from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { account, bench, heardBy, hours, idle, signedIn } from './harness.ts'

const auth_url = 'http://127.0.0.1:9'
const grant = { refresh_token: 'brought', auth_url }

/** The refresh token that the store holds. */
async function held(world: ReturnType<typeof bench>): Promise<unknown> {
  const record = (await world.store.read(account))?.record
  return record !== undefined && 'tokens' in record ? record.tokens.refresh_token : record?.state
}

describe('a refresh token alone', () => {
  it('is stored without a request, and the first call refreshes: one request for all callers', async () => {
    const world = bench()
    const [one, other] = [world.process(), world.process()]
    await one.save(account, grant)
    expect(await other.status(account)).toEqual({ state: 'expired', obtained_at: world.now() / 1000, auth_url })
    expect(world.sent).toEqual([])
    const calls = [one, other, one, other].map((tokens) => tokens.getAccessToken(account))
    await world.pass(1000)
    expect(await Promise.all(calls)).toEqual(['a1', 'a1', 'a1', 'a1'])
    expect(world.sent).toEqual(['brought'])
    expect(await other.status(account)).toMatchObject({ state: 'valid', expires_at: world.now() / 1000 - 1 + 28_800 })
  })

  it('is at the issuer’s own address where none is named', async () => {
    const world = bench()
    const issuer = { refresh: async () => world.tokens(), authUrl: auth_url }
    await world.process({ issuer }).save(account, { refresh_token: 'brought' })
    expect(await world.process().status(account)).toMatchObject({ state: 'expired', auth_url })
    await expect(world.process().save('other', { refresh_token: 'brought' })).rejects.toThrow(
      new TypeError('tokens.auth_url must be a non-empty string'),
    )
  })

  it('outlives a request that was never sent, and one whose answer was lost', async () => {
    const world = bench()
    const tokens = world.process()
    await tokens.save(account, grant)
    for (const [requestSent, code] of [
      [false, 'ERR_SSO_UNREACHABLE'],
      [true, 'ERR_SSO_REFRESH_IN_DOUBT'],
    ] as const) {
      world.answer = () => Promise.reject(new UnreachableError('no answer', { requestSent }))
      await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code })
      expect(await held(world)).toBe('brought')
      await world.pass(hours(1))
    }
    world.answer = world.newTokens
    expect(await tokens.getAccessToken(account)).toBe('a1')
  })

  it.each([
    ['nothing was sent', false],
    ['answers were lost', true],
  ])('is asked for by refresh() after a minute, though calls wait for longer since %s', async (_, requestSent) => {
    const world = bench()
    const tokens = world.process()
    await tokens.save(account, grant)
    world.answer = () => Promise.reject(new UnreachableError('Not now.', { step: 'refresh', requestSent }))
    for (let minute = 0; minute < 9; minute += 1) {
      await tokens.getAccessToken(account).catch(() => undefined)
      await world.pass(61_000)
    }
    const before = world.sent.length
    await tokens.getAccessToken(account).catch(() => undefined)
    expect(world.sent).toHaveLength(before)
    world.answer = world.newTokens
    await tokens.refresh(account)
    expect(await tokens.getAccessToken(account)).toBe('a1')
  })

  it('that is dead ends the session, and is not taken again', async () => {
    const world = bench()
    const tokens = world.process()
    await tokens.save(account, grant)
    world.answer = () => Promise.reject(new ReauthenticationRequiredError('refresh_token_rejected'))
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ reason: 'refresh_token_rejected' })
    const again = await world
      .process()
      .save(account, grant)
      .catch((error: unknown) => error)
    expect(again).toMatchObject({ code: 'ERR_SSO_REAUTHENTICATION_REQUIRED', requestSent: false })
    await tokens.save(account, { ...grant, refresh_token: 'another' })
    expect(await held(world)).toBe('another')
  })
})

describe('a session that is there', () => {
  const refused = { code: 'ERR_SSO_SESSION_EXISTS', requestSent: false }

  it('is never ended by a refresh token that is brought along, in whatever state it is', async () => {
    const { world, tokens } = await signedIn()
    await expect(world.process().save(account, grant)).rejects.toBeInstanceOf(SessionExistsError)
    await world.pass(hours(9))
    await expect(tokens.save(account, grant)).rejects.toMatchObject(refused)
    world.answer = () => Promise.reject(new UnreachableError('lost', { requestSent: true }))
    await tokens.getAccessToken(account).catch(() => undefined)
    await expect(world.process().save(account, grant)).rejects.toMatchObject(refused)
    expect(await held(world)).toBe('r0')
  })

  it('is ended where that is wished, and by a token set unless that is not wished', async () => {
    const { world, tokens } = await signedIn()
    await tokens.save(account, grant, { replace: true })
    expect(await held(world)).toBe('brought')
    await expect(tokens.save(account, world.tokens(), { replace: false })).rejects.toMatchObject(refused)
    await tokens.save(account, world.tokens())
    expect(await held(world)).toBe('r0')
    await expect(tokens.save(account, grant, JSON.parse('{"replace":"yes"}'))).rejects.toThrow(
      new TypeError('replace must be true or false; text came'),
    )
  })

  it('that holds the very same refresh token stays as it is, with its access token', async () => {
    const { world, tokens } = await signedIn()
    await tokens.save(account, { ...grant, refresh_token: 'r0' })
    await world.process().save(account, { ...grant, refresh_token: 'r0' })
    expect(await world.process().getAccessToken(account)).toBe('a0')
    expect(world.sent).toEqual([])
    // And the index still knows whose it is.
    await expect(tokens.save('other@example.com', world.tokens())).rejects.toMatchObject({ account })
  })

  it('gives way once it is over: after a sign-out, and after a refusal', async () => {
    const { tokens } = await signedIn()
    await tokens.forget(account)
    await tokens.save(account, grant)
    expect(await tokens.getAccessToken(account)).toBe('a1')
  })

  it('counts as well where the spool alone holds its newest tokens, or the store forgot it', async () => {
    const world = bench()
    const spool = mapStore()
    const tokens = world.process({ spool })
    await tokens.save(account, world.tokens())
    await tokens.refresh(account)
    world.store.clear()
    await expect(tokens.save(account, grant)).rejects.toMatchObject(refused)
    expect(await held(world)).toBe('r1')
  })

  it('that begins while a refresh token is being stored wins', async () => {
    const world = bench()
    const [importer, person] = [world.process(), world.process()]
    const swap = world.store.swap.bind(world.store)
    let hasSignedIn = false
    world.store.swap = async (name, ...write) => {
      if (name === account && !hasSignedIn) {
        hasSignedIn = true
        await person.save(account, world.tokens({ refresh_token: 'of the person' }))
      }
      return swap(name, ...write)
    }
    await expect(importer.save(account, grant)).rejects.toMatchObject(refused)
    expect(await held(world)).toBe('of the person')
  })
})

describe('tokens of another owner', () => {
  /** A process whose issuer says whose the tokens of the first refresh are. */
  function process(world: ReturnType<typeof bench>, isOfAnotherOwner: () => Promise<boolean>): TokenManager {
    const refresh = async (tokens: Parameters<typeof world.answer>[0], call = {}) => {
      world.sent.push(tokens.refresh_token)
      return world.answer(tokens, call)
    }
    return world.process({ issuer: { refresh, isOfAnotherOwner } })
  }

  it('are kept and never served, by any process, and every call says why', async () => {
    const world = bench()
    const tokens = process(world, async () => true)
    const heard = heardBy(tokens, 'reauthentication-required')
    await tokens.save(account, grant)
    await expect(tokens.getAccessToken(account)).rejects.toBeInstanceOf(OtherOwnerError)
    const words = /belongs to another owner.*Sign in for this account/u
    for (const one of [tokens, world.process()]) {
      await expect(one.getAccessToken(account)).rejects.toThrow(words)
      await expect(one.refresh(account)).rejects.toMatchObject({ reason: 'other_owner' })
      expect(await one.status(account)).toEqual({
        state: 'reauthentication-required',
        reason: 'other_owner',
        obtained_at: world.now() / 1000,
        auth_url,
      })
    }
    expect(heard).toEqual([{ account, reason: 'other_owner' }])
    expect(world.sent).toEqual(['brought'])
    expect(await held(world)).toBe('r1')
    expect(JSON.stringify(await world.store.read(account))).not.toContain('a1')
    // A sign-in, or the right refresh token, mends it.
    await tokens.save(account, { refresh_token: 'their own', auth_url })
    expect(await held(world)).toBe('their own')
  })

  it('are looked for at the first refresh alone, and an issuer that fails to tell is believed', async () => {
    const world = bench()
    let asked = 0
    const tokens = process(world, async () => {
      asked += 1
      throw new Error('no idea')
    })
    await tokens.save(account, grant)
    expect(await tokens.getAccessToken(account)).toBe('a1')
    await world.pass(hours(9))
    expect(await tokens.getAccessToken(account)).toBe('a2')
    await tokens.save(account, world.tokens({ expires_at: 0 }))
    await tokens.getAccessToken(account)
    expect(asked).toBe(1)
    await idle()
  })
})

it('an instance that the issuer does not know is refused before anything is stored, also for a token set', async () => {
  const world = bench()
  const allowedAuthUrl = async (address: string): Promise<string> => {
    if (address.startsWith(auth_url)) return auth_url
    throw new RangeError('not allowed')
  }
  const tokens = world.process({ issuer: { refresh: async () => world.tokens(), allowedAuthUrl } })
  const elsewhere = { auth_url: 'http://elsewhere.example' }
  await expect(tokens.save(account, { ...grant, ...elsewhere })).rejects.toThrow('not allowed')
  await expect(tokens.save(account, world.tokens(elsewhere))).rejects.toThrow('not allowed')
  expect(await world.store.read(account)).toBeUndefined()
  await tokens.save(account, { ...grant, auth_url: `${auth_url}/some/path` })
  expect(await tokens.status(account)).toMatchObject({ auth_url })
})
