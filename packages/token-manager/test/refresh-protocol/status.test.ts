/** What `status()` tells of the past and the future of an account's refreshes; never a token. */
import { describe, expect, it } from '@jest/globals'
import {
  FirewallChallengeError,
  ReauthenticationRequiredError,
  SsoError,
  SsoTimeoutError,
  TokenRejectedError,
  UnreachableError,
} from '../../src/errors.ts'
import type { TokenSet } from '../../src/issuer/token-set.ts'
import { jitterOf } from '../../src/refresh-protocol/freshness.ts'
import { lineageOf } from '../../src/store/lineage.ts'
import { firewallRecordName } from '../../src/store/record-names.ts'
import { account, type Bench, bench, hours, idle } from './harness.ts'

it('tells when the tokens were refreshed, when the next refresh is due, and how the last one failed', async () => {
  const world = bench()
  const tokens = world.process()
  await tokens.save(account, world.tokens())
  const signedInAt = world.now() / 1000
  const first = await tokens.status(account)
  expect(first).not.toHaveProperty('refreshed_at')
  expect(first).not.toHaveProperty('last_failure')
  // Three quarters of eight hours, give or take a tenth; the same in every process.
  const due = (first.refresh_due_at ?? 0) - signedInAt
  expect(due).toBeGreaterThanOrEqual(6 * 3600 * 0.9)
  expect(due).toBeLessThanOrEqual(6 * 3600 * 1.1 + 1)
  expect(await world.process().status(account)).toEqual(first)

  const answer = world.answer
  world.answer = async () => {
    throw new UnreachableError('no connection', { requestSent: false })
  }
  await world.pass(hours(7))
  const failedAt = Math.floor(world.now() / 1000)
  await tokens.getAccessToken(account)
  await idle()
  for (const each of [tokens, world.process()]) {
    expect(await each.status(account)).toMatchObject({
      state: 'valid',
      last_failure: { code: 'ERR_SSO_UNREACHABLE', at: failedAt },
    })
  }

  world.answer = answer
  const other = world.process({ minRefreshInterval: 0 })
  await other.refresh(account)
  const refreshed = await other.status(account)
  expect(refreshed).toMatchObject({ state: 'valid', refreshed_at: failedAt })
  expect(refreshed).not.toHaveProperty('last_failure')
  expect(JSON.stringify([first, refreshed])).not.toMatch(/"[ar]\d"/u)
})

it('tells since when a refresh is in doubt', async () => {
  const world = bench()
  const tokens = world.process()
  await tokens.save(account, world.tokens())
  await world.pass(hours(7))
  const sentAt = Math.floor(world.now() / 1000)
  world.answer = async () => {
    throw new SsoTimeoutError('no answer', { requestSent: true })
  }
  await tokens.getAccessToken(account)
  await idle()
  await world.pass(60_000)
  expect(await world.process().status(account)).toMatchObject({
    state: 'in-doubt',
    in_doubt_since: sentAt,
    last_failure: { code: 'ERR_SSO_TIMEOUT', at: sentAt },
  })
})

describe('what a refresh comes to', () => {
  const start = Date.UTC(2026, 0, 1) / 1000
  const authUrl = 'http://127.0.0.1:9'
  /** Seven hours later, in the middle of a second. */
  const later = start + 7 * 3600
  const holder = { pid: 1, boot: 'process-1' }
  const names = [
    'refreshed',
    'refresh-failed',
    'in-doubt',
    'unsaved',
    'restored',
    'superseded',
    'reauthentication-required',
    'over-budget',
    'blocked',
  ] as const

  /** What is told and stored of one refresh that is answered like this, half a second after it was sent. */
  async function cameTo(answer: (world: Bench) => Promise<TokenSet>, options: object = {}) {
    const world = bench()
    const manager = world.process(options)
    await manager.save(account, world.tokens())
    const before = (await world.store.read(account))?.record
    if (before?.state !== 'signed-in') throw new Error('It is not signed in.')
    await world.pass(hours(7) + 700)
    const told: unknown[] = []
    for (const name of names)
      manager.on(name, (event) => {
        const { error, ...facts } = { error: undefined, ...event }
        told.push([name, { ...facts, ...(error instanceof SsoError && { code: error.code }) }])
      })
    world.answer = async () => {
      await world.after(500)
      return answer(world)
    }
    const refresh = manager.refresh(account).then(
      () => 'done',
      (error: unknown) => error,
    )
    await world.pass(500)
    const outcome = await refresh
    const stored = world.store.down ? undefined : await world.store.read(account)
    return { world, manager, told, outcome, before, stored, status: () => manager.status(account) }
  }

  it('is told and stored: new tokens, as old as they can be', async () => {
    const { told, outcome, before, stored, status } = await cameTo(async (world) =>
      world.tokens({ access_token: 'a1', refresh_token: 'r1', expires_at: later + 3600 }),
    )
    expect(outcome).toBe('done')
    expect(told).toEqual([['refreshed', { account, expires_at: later + 3599, replay: false }]])
    expect(stored?.record).toEqual({
      ...before,
      refreshes: 1,
      lineage: lineageOf(account, 'r1'),
      spent: [lineageOf(account, 'r0')],
      tokens: {
        access_token: 'a1',
        refresh_token: 'r1',
        token_type: 'Bearer',
        expires_at: later + 3600,
        auth_url: authUrl,
      },
      obtained_at: later,
      lifetime: 3599,
      predecessor: {
        tokens: { ...before.tokens, refresh_token: '' },
        obtained_at: before.obtained_at,
        lifetime: before.lifetime,
      },
    })
    expect(stored?.version).toBe(3)
    expect(await status()).toEqual({
      state: 'valid',
      auth_url: authUrl,
      obtained_at: later,
      refreshed_at: later,
      expires_at: later + 3599,
      // Three quarters of its life, give or take a tenth.
      refresh_due_at: Math.ceil(later + 3599 * 0.75 * (0.9 + 0.2 * jitterOf(lineageOf(account, 'r1')))),
    })
  })

  it('is told and stored: a dead refresh token, which is the end', async () => {
    const { told, outcome, before, stored, status } = await cameTo(async () => {
      throw new ReauthenticationRequiredError('refresh_token_rejected', {}, 'it was revoked')
    })
    const facts = { reason: 'refresh_token_rejected', description: 'it was revoked' }
    expect(outcome).toMatchObject({ ...facts, step: 'token-manager', requestSent: false })
    expect(told).toEqual([['reauthentication-required', { account, reason: facts.reason }]])
    expect(stored?.record).toEqual({ ...before, state: 'reauthentication-required', ...facts })
    expect(await status()).toEqual({
      state: 'reauthentication-required',
      reason: facts.reason,
      auth_url: authUrl,
      obtained_at: start,
      expires_at: start + 8 * 3600,
    })
  })

  it('is told and stored: a lost response, which leaves the intent', async () => {
    const { told, outcome, before, stored, status, manager, world } = await cameTo(async () => {
      throw new SsoTimeoutError('no answer', { requestSent: true })
    })
    // Replayed two minutes before the old access token ends.
    const nextAttemptAt = start + 8 * 3600 - 120
    expect(outcome).toMatchObject({
      code: 'ERR_SSO_REFRESH_IN_DOUBT',
      nextAttemptAt,
      step: 'token-manager',
      requestSent: true,
    })
    expect(told).toEqual([
      ['refresh-failed', { account, code: 'ERR_SSO_TIMEOUT' }],
      ['in-doubt', { account, nextAttemptAt }],
    ])
    const intent = { id: expect.any(String), holder, replay: 0, at: later, answerLost: true }
    const failure = { code: 'ERR_SSO_TIMEOUT', at: later + 1 }
    expect(stored?.record).toEqual({ ...before, failure, intent })
    expect(await status()).toMatchObject({
      state: 'in-doubt',
      next_attempt_at: nextAttemptAt,
      in_doubt_since: later,
      last_failure: failure,
    })
    // The replay finds the refresh token spent: the new one went down with the response.
    world.answer = async () => {
      throw new ReauthenticationRequiredError('refresh_token_rejected')
    }
    await world.pass(hours(1))
    told.length = 0
    await expect(manager.getAccessToken(account)).rejects.toMatchObject({ reason: 'rotated_token_lost' })
    expect(told).toEqual([['reauthentication-required', { account, reason: 'rotated_token_lost' }]])
    const ended = await world.store.read(account)
    expect(ended?.record).toEqual({
      ...before,
      failure,
      state: 'reauthentication-required',
      reason: 'rotated_token_lost',
    })
    expect(world.sent).toEqual(['r0', 'r0'])
  })

  it('is told and stored: new tokens after all, by the replay', async () => {
    const { told, stored, manager, world } = await cameTo(async () => {
      throw new SsoTimeoutError('no answer', { requestSent: true })
    })
    expect(stored?.version).toBe(3)
    world.answer = async () => world.tokens({ access_token: 'a1', refresh_token: 'r1' })
    await world.pass(hours(1))
    told.length = 0
    expect(await manager.getAccessToken(account)).toBe('a1')
    const expires_at = Math.floor(world.now() / 1000) + 8 * 3600
    expect(told).toEqual([['refreshed', { account, expires_at, replay: true }]])
    const record = (await world.store.read(account))?.record
    expect(record).toMatchObject({ refreshes: 1, tokens: { refresh_token: 'r1' } })
    expect(record).not.toHaveProperty('intent')
    expect(record).not.toHaveProperty('failure')
  })

  it.each<[string, SsoError, object]>([
    ['no connection', new UnreachableError('x', { requestSent: false }), {}],
    ['another mistake', new TokenRejectedError('invalid_client', {}), {}],
    [
      'a wrong request',
      new TokenRejectedError('invalid_request', {}, 'what now'),
      { rejections: { inARow: 1, at: later + 1, description: 'what now' } },
    ],
  ])('is told and stored: a refresh token that is as good as before (%s)', async (_what, error, more) => {
    const { told, outcome, before, stored, status, world, manager } = await cameTo(() => Promise.reject(error))
    expect(outcome).toBe(error)
    expect(told).toEqual([['refresh-failed', { account, code: error.code }]])
    const failure = { code: error.code, at: later + 1 }
    expect(stored?.record).toEqual({ ...before, ...more, failure })
    expect(await status()).toMatchObject({ state: 'valid', last_failure: failure })
    // The next one only after a minute.
    const again = (): Promise<unknown> => manager.refresh(account).catch((other: unknown) => other)
    await world.pass(59_000)
    expect(await again()).toMatchObject({ code: error.code })
    expect(world.sent).toEqual(['r0'])
    await world.pass(2000)
    const second = again()
    await world.pass(1000)
    await second
    expect(world.sent).toEqual(['r0', 'r0'])
  })

  it('is told and stored: a firewall’s page, which blocks the host', async () => {
    const { told, outcome, before, stored, world } = await cameTo(async () => {
      throw new FirewallChallengeError(later + 901, { step: 'refresh', status: 403, requestSent: true })
    })
    expect(outcome).toMatchObject({ nextAttemptAt: later + 902, step: 'refresh', status: 403, requestSent: true })
    expect(told).toEqual([
      ['refresh-failed', { account, code: 'ERR_SSO_FIREWALL_CHALLENGE' }],
      ['blocked', { account, auth_url: authUrl, nextAttemptAt: later + 902 }],
    ])
    expect(stored?.record).toEqual({ ...before, failure: { code: 'ERR_SSO_FIREWALL_CHALLENGE', at: later + 1 } })
    expect((await world.store.read(firewallRecordName(authUrl)))?.record).toEqual({
      schema: 1,
      state: 'firewall',
      challenges: 1,
      noted_at: later + 1,
      wait: 900,
    })
  })

  it('is told: a store that does not take new tokens, which are served from memory', async () => {
    const { told, outcome, manager, world, status } = await cameTo(async (there) => {
      there.store.down = true
      return there.tokens({ access_token: 'a1', refresh_token: 'r1' })
    })
    expect(outcome).toBe('done')
    expect(told).toEqual([
      ['unsaved', { account, code: 'ERR_SSO_STORE', spooled: false }],
      ['refreshed', { account, expires_at: expect.any(Number), replay: false }],
    ])
    expect(await manager.getAccessToken(account)).toBe('a1')
    // 250 ms, then twice as long each time, by a chance of one half.
    world.store.down = false
    await world.pass(249)
    expect((await world.store.read(account))?.version).toBe(2)
    await world.pass(1)
    expect(await world.store.read(account)).toMatchObject({ version: 3, record: { tokens: { access_token: 'a1' } } })
    expect(await status()).toMatchObject({ state: 'valid' })
  })

  it('is dropped where a newer sign-in stands in the store', async () => {
    const { told, stored } = await cameTo(async (world) => {
      await world.process().save(account, world.tokens({ access_token: 'n', refresh_token: 'new' }))
      return world.tokens({ access_token: 'a1', refresh_token: 'r1' })
    })
    expect(told).toEqual([['superseded', { account }]])
    expect(stored).toMatchObject({ version: 3, record: { refreshes: 0, tokens: { access_token: 'n' } } })
  })
})

it('a sign-out leaves its time, and nothing of the tokens', async () => {
  const world = bench()
  const tokens = world.process()
  await tokens.forget('nobody')
  expect(await world.store.read('nobody')).toBeUndefined()
  await tokens.save(account, world.tokens())
  const session: unknown = Reflect.get((await world.store.read(account))?.record ?? {}, 'session')
  await world.pass(1900)
  await tokens.forget(account)
  expect((await world.store.read(account))?.record).toEqual({
    schema: 1,
    state: 'signed-out',
    generation: 2,
    session: expect.any(String),
    replaces: [session],
    spent: [],
    signed_out_at: Math.floor(world.now() / 1000),
  })
  expect(await tokens.status(account)).toEqual({ state: 'signed-out' })
  await expect(tokens.getTokens(account)).rejects.toMatchObject({
    code: 'ERR_SSO_SIGNED_OUT',
    step: 'token-manager',
    requestSent: false,
  })
})

it('the current tokens are told without the refresh token', async () => {
  const world = bench()
  const tokens = world.process()
  await tokens.save(account, world.tokens({ id_token: 'i', state: 's' }))
  const expires_at = world.now() / 1000 + 8 * 3600
  expect(await tokens.getTokens(account)).toEqual({
    access_token: 'a0',
    token_type: 'Bearer',
    expires_at,
    id_token: 'i',
  })
  await tokens.save(account, world.tokens())
  expect(await tokens.getTokens(account)).toStrictEqual({ access_token: 'a0', token_type: 'Bearer', expires_at })
})
