/** `background: false` and `waitUntil`: what goes on after a call, on a platform that freezes the process between requests. */
import { describe, expect, it } from '@jest/globals'
import type { TokenManagerOptions, TokenSet } from '../../src/index.ts'
import { account, bench, type Bench, deferred, hours, idle } from './harness.ts'

const ageing = hours(6.7)

/** A manager whose account is signed in, so long ago. */
async function signedIn(world: Bench, options: Partial<TokenManagerOptions>, age: number) {
  const tokens = world.process(options)
  await tokens.save(account, world.tokens())
  await world.pass(age)
  return tokens
}

/** Whether a promise has settled by now. */
function watched(work: Promise<unknown>): () => boolean {
  let isSettled = false
  const settle = (): void => void (isSettled = true)
  work.then(settle, settle)
  return () => isSettled
}

describe('background: false (N1)', () => {
  const frozen = { background: false } as const

  it('refreshes a token that is due in the call that finds it so, and answers with the new one', async () => {
    const world = bench()
    const tokens = await signedIn(world, frozen, ageing)
    expect(await tokens.getAccessToken(account)).toBe('a1')
    expect((await world.store.read(account))?.record).toMatchObject({ tokens: { access_token: 'a1' } })
  })

  it('leaves a fresh token alone', async () => {
    const world = bench()
    const tokens = await signedIn(world, frozen, hours(4))
    expect(await tokens.getAccessToken(account)).toBe('a0')
    expect(world.sent).toEqual([])
  })

  it('answers with the token that still works where the service fails, and pauses before the next try', async () => {
    const world = bench()
    const tokens = await signedIn(world, frozen, ageing)
    world.answer = () => Promise.reject(new Error('503'))
    expect(await tokens.getAccessToken(account)).toBe('a0')
    expect(await tokens.getAccessToken(account)).toBe('a0')
    expect(world.sent).toEqual(['r0'])
  })

  it('waits for nobody else’s refresh while its own token works', async () => {
    const world = bench()
    const [holder, frozenOne] = [world.process(), world.process(frozen)]
    await holder.save(account, world.tokens())
    await frozenOne.getAccessToken(account)
    await world.pass(ageing)
    world.answer = () => new Promise(() => undefined)
    await holder.getAccessToken(account)
    await idle()
    const call = frozenOne.getAccessToken(account)
    const isSettled = watched(call)
    await world.pass(1000)
    expect(isSettled()).toBe(true)
    expect(await call).toBe('a0')
    expect(world.sent).toEqual(['r0'])
  })

  it('waits for it where the token has expired', async () => {
    const world = bench()
    const [holder, frozenOne] = [world.process(), world.process(frozen)]
    await holder.save(account, world.tokens())
    await world.pass(hours(8))
    const answer = deferred<TokenSet>()
    world.answer = () => answer.promise
    const calls = [holder.getAccessToken(account), frozenOne.getAccessToken(account)]
    await world.pass(5000)
    answer.resolve(world.tokens({ access_token: 'new', refresh_token: 'new' }))
    await world.pass(1000)
    expect(await Promise.all(calls)).toEqual(['new', 'new'])
  })

  it.each([
    ['getAccessToken', hours(8)],
    ['refresh', hours(1)],
  ] as const)('%s that is given up returns once its own request has landed, not before', async (method, age) => {
    const world = bench()
    const tokens = await signedIn(world, frozen, age)
    const answer = deferred<TokenSet>()
    world.answer = () => answer.promise
    const { signal, abort } = abortable()
    const call = tokens[method](account, { signal })
    call.catch(() => undefined)
    const isSettled = watched(call)
    await idle()
    abort()
    await world.pass(1000)
    expect(isSettled()).toBe(false)
    answer.resolve(world.tokens({ access_token: 'new', refresh_token: 'new' }))
    await expect(call).rejects.toMatchObject({ code: 'ERR_SSO_TIMEOUT' })
    expect((await world.store.read(account))?.record).toMatchObject({ tokens: { access_token: 'new' } })
  })

  it('a call that is given up ends its wait for another process at once', async () => {
    const world = bench()
    const [holder, frozenOne] = [world.process(), world.process(frozen)]
    await holder.save(account, world.tokens())
    await world.pass(hours(8))
    world.answer = () => new Promise(() => undefined)
    void holder.getAccessToken(account)
    await idle()
    const { signal, abort } = abortable()
    const call = frozenOne.getAccessToken(account, { signal })
    call.catch(() => undefined)
    const isSettled = watched(call)
    await world.pass(1000)
    expect(isSettled()).toBe(false)
    abort()
    await world.pass(1000)
    expect(isSettled()).toBe(true)
    // The holder dies: nothing of the call that was given up is left to take over.
    world.liveness.set(1, 'dead')
    await world.pass(hours(1))
    expect(world.sent).toEqual(['r0'])
  })

  it('a call stays with new tokens that the store refuses for ten seconds, then answers with them', async () => {
    const world = bench()
    const tokens = await signedIn(world, frozen, hours(8))
    const answer = deferred<TokenSet>()
    world.answer = () => answer.promise
    const call = tokens.getAccessToken(account)
    const isSettled = watched(call)
    await idle()
    world.store.down = true
    answer.resolve(world.tokens({ access_token: 'new', refresh_token: 'new' }))
    await world.pass(9000)
    expect(isSettled()).toBe(false)
    await world.pass(2000)
    expect(await call).toBe('new')
    // Thawed, hours later: the save is repeated.
    world.store.down = false
    await world.pass(20_000)
    expect((await world.store.read(account))?.record).toMatchObject({ tokens: { access_token: 'new' } })
  })

  it('runs no timer between calls: nobody looks at the roll call', async () => {
    const world = bench()
    const tokens = await signedIn(world, frozen, 0)
    await tokens.getAccessToken(account)
    world.store.clear()
    await world.rollCall()
    expect(await world.store.read(account)).toBeUndefined()
    expect(world.timers()).toBe(0)
  })
})

describe('waitUntil (N2)', () => {
  it('is handed each refresh in the background, which it sees saved', async () => {
    const world = bench()
    const handed: Promise<unknown>[] = []
    const tokens = await signedIn(world, { waitUntil: (work) => void handed.push(work) }, ageing)
    const answer = deferred<TokenSet>()
    world.answer = () => answer.promise
    expect(await tokens.getAccessToken(account)).toBe('a0')
    expect(handed).toHaveLength(1)
    const isSettled = watched(Promise.all(handed))
    await idle()
    expect(isSettled()).toBe(false)
    world.store.down = true
    answer.resolve(world.tokens({ access_token: 'new', refresh_token: 'new' }))
    await world.pass(60_000)
    expect(isSettled()).toBe(false)
    world.store.down = false
    await world.pass(20_000)
    await handed[0]
    expect((await world.store.read(account))?.record).toMatchObject({ tokens: { access_token: 'new' } })
  })

  it('hears of no failure, and its own fails no call', async () => {
    const world = bench()
    const handed: Promise<unknown>[] = []
    const waitUntil = (work: Promise<unknown>): void => {
      handed.push(work)
      throw new Error('outside of a request')
    }
    const tokens = await signedIn(world, { waitUntil }, ageing)
    world.answer = () => Promise.reject(new Error('503'))
    expect(await tokens.getAccessToken(account)).toBe('a0')
    expect(await Promise.all(handed)).toEqual([undefined])
  })

  it.each([
    ['background', 'no'],
    ['waitUntil', {}],
  ])('%s of another kind is a TypeError', (name, value) => {
    expect(() => bench().process({ [name]: value })).toThrow(new RegExp(`^${name} must be`, 'u'))
  })
})

function abortable(): { readonly signal: AbortSignal; readonly abort: () => void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
