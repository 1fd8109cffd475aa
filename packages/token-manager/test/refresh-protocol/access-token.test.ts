/** What callers get: at once where a token works, one refresh where none does, and never two for one expiry. */
import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type TokenSet, UnreachableError } from '../../src/index.ts'
import { account, bench, deferred, hours, idle, signedIn } from './harness.ts'

describe('a token that works', () => {
  it('is given by a promise that has resolved already, without a look into the store', async () => {
    const { world, tokens } = await signedIn()
    await tokens.getAccessToken(account)
    world.store.down = true
    const heard: string[] = []
    const given = tokens.getAccessToken(account).then((token) => heard.push(token))
    const next = Promise.resolve().then(() => heard.push('the next turn'))
    await Promise.all([given, next])
    expect(heard).toEqual(['a0', 'the next turn'])
  })

  it('is given with its end and its id token, never the refresh token, and not where somebody signed out', async () => {
    const world = bench()
    const tokens = world.process()
    const saved = { ...world.tokens(), id_token: 'i0' }
    await tokens.save(account, saved)
    const { access_token, token_type, expires_at } = saved
    expect(await tokens.getTokens(account)).toEqual({ access_token, token_type, expires_at, id_token: 'i0' })
    await world.pass(hours(9))
    expect(await tokens.getTokens(account)).toMatchObject({ access_token: 'a1' })
    expect(world.sent).toEqual(['r0'])
    await tokens.forget(account)
    await expect(tokens.getTokens(account)).rejects.toMatchObject({ code: 'ERR_SSO_SIGNED_OUT' })
    await expect(tokens.getTokens('')).rejects.toThrow(TypeError)
  })

  it('is refreshed beside once it has aged, while callers keep getting it', async () => {
    const { world, tokens } = await signedIn(hours(5.3))
    await tokens.getAccessToken(account)
    expect(world.sent).toEqual([])
    await world.pass(hours(1.4))
    expect(await tokens.getAccessToken(account)).toBe('a0')
    await idle()
    expect(await tokens.getAccessToken(account)).toBe('a1')
    expect(world.sent).toEqual(['r0'])
  })

  it('is given on while its refresh fails, which is tried again after a rest, not with every call', async () => {
    const { world, tokens } = await signedIn()
    world.answer = () => Promise.reject(new UnreachableError('no route', { requestSent: false }))
    await world.pass(hours(6.1))
    for (let call = 0; call < 600; call += 1) {
      expect(await tokens.getAccessToken(account)).toBe('a0')
      await world.pass(1000)
    }
    // One at once, then after 1, 2 and 4 minutes of rest and the look that notices it is over.
    expect(world.sent.length).toBeGreaterThanOrEqual(3)
    expect(world.sent.length).toBeLessThanOrEqual(4)
    await world.pass(hours(2))
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_UNREACHABLE' })
  })

  it('whose refresh failed can be asked for after minRefreshInterval, however long the rest has grown', async () => {
    const { world, tokens } = await signedIn()
    const failure = new UnreachableError('no route', { requestSent: false })
    world.answer = async () => {
      throw failure
    }
    for (let time = 0; time < 4; time += 1) {
      await expect(tokens.refresh(account)).rejects.toBe(failure)
      await expect(tokens.refresh(account)).rejects.toBe(failure)
      await world.pass(61_000)
    }
    expect(world.sent).toHaveLength(4)
    world.answer = world.newTokens
    await tokens.refresh(account)
    expect(await tokens.getAccessToken(account)).toBe('a1')
  })

  it('is not lost to an error that nobody expects', async () => {
    const { world, tokens } = await signedIn()
    world.answer = () => Promise.reject(new RangeError('with r0 in it'))
    const error: unknown = await tokens.refresh(account).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ERR_SSO_REFRESH_IN_DOUBT' })
    expect(inspect(error, { depth: 9 })).not.toContain('r0')
    expect(await tokens.getAccessToken(account)).toBe('a0')
  })

  it('is taken from the store where another process refreshed it', async () => {
    const { world, tokens: one, other } = await signedIn()
    expect(await other.getAccessToken(account)).toBe('a0')
    await world.pass(hours(7.9) + 400_000)
    expect(await one.getAccessToken(account)).toBe('a1')
    expect(await other.getAccessToken(account)).toBe('a1')
    expect(world.sent).toEqual(['r0'])
  })

  it('is given at once by a process that has just started, however long its refresh takes', async () => {
    const { world } = await signedIn(hours(7))
    world.answer = () => new Promise<TokenSet>(() => undefined)
    expect(await world.process().getAccessToken(account)).toBe('a0')
    await idle()
    expect(world.sent).toEqual(['r0'])
    // A second one waits for the first beside, and answers no less at once.
    expect(await world.process().getAccessToken(account)).toBe('a0')
    await idle()
    expect(world.sent).toEqual(['r0'])
  })

  it('of another account is nobody’s business', async () => {
    const world = bench()
    const tokens = world.process()
    await tokens.save('one@example.com', world.tokens({ access_token: 'one' }))
    await tokens.save('__proto__', world.tokens({ access_token: 'other', refresh_token: 'other' }))
    expect(await tokens.getAccessToken('one@example.com')).toBe('one')
    expect(await tokens.getAccessToken('__proto__')).toBe('other')
    await expect(tokens.getAccessToken('nobody')).rejects.toMatchObject({ code: 'ERR_SSO_SIGNED_OUT' })
  })

  it('is remembered for so many accounts and read again for the others', async () => {
    const world = bench()
    const tokens = world.process({ cachedAccounts: 2 })
    for (const name of ['a', 'b', 'c'])
      await tokens.save(name, world.tokens({ access_token: name, refresh_token: name }))
    expect(await tokens.getAccessToken('a')).toBe('a')
    world.store.down = true
    expect(await tokens.getAccessToken('a')).toBe('a')
    await expect(tokens.getAccessToken('b')).rejects.toMatchObject({ code: 'ERR_SSO_STORE' })
  })

  it('is remembered beyond that while its refresh is under way, and no longer', async () => {
    const world = bench()
    const tokens = world.process({ cachedAccounts: 1, minRefreshInterval: 0 })
    for (const name of ['a', 'b']) await tokens.save(name, world.tokens({ access_token: name, refresh_token: name }))
    const answer = deferred<TokenSet>()
    world.answer = () => answer.promise
    const refreshed = tokens.refresh('a')
    await idle()
    expect(await tokens.getAccessToken('b')).toBe('b')
    world.store.down = true
    expect(await tokens.getAccessToken('a')).toBe('a')
    world.store.down = false
    expect(await tokens.getAccessToken('b')).toBe('b')
    answer.resolve(world.tokens({ access_token: 'a1', refresh_token: 'r1' }))
    await refreshed
    world.store.down = true
    await expect(tokens.getAccessToken('a')).rejects.toMatchObject({ code: 'ERR_SSO_STORE' })
  })
})

describe('one refresh', () => {
  it('reads the record and what is known of the firewall at once: three round trips in all', async () => {
    const world = bench()
    const asked: string[] = []
    const { store } = world
    /** Answers all that was asked at the same time. */
    const trip = async <Value>(what: string, operation: () => Promise<Value>): Promise<Value> => {
      asked.push(what)
      await idle()
      asked.push('answer')
      return operation()
    }
    const tokens = world.process({
      store: {
        read: (name) => trip('read', () => store.read(name)),
        swap: (...write) => trip('swap', () => store.swap(...write)),
      },
    })
    await tokens.save(account, world.tokens())
    await world.pass(hours(8))
    asked.length = 0
    expect(await tokens.getAccessToken(account)).toBe('a1')
    expect(asked).toEqual(['read', 'read', 'answer', 'answer', 'swap', 'answer', 'swap', 'answer'])
  })

  it('serves a hundred callers', async () => {
    const { world, tokens } = await signedIn(hours(8))
    const answers = await Promise.all(Array.from({ length: 100 }, () => tokens.getAccessToken(account)))
    expect(new Set(answers)).toEqual(new Set(['a1']))
    expect(world.sent).toEqual(['r0'])
  })

  it('goes on when its first caller gives up, and whoever else waits gets its token (A7)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.boolean(), { minLength: 1, maxLength: 8 }),
        async (schedule, aborts) => {
          const { world, tokens } = await signedIn(hours(8), { cachedAccounts: 1 })
          world.answer = (...args) => schedule.schedule(world.newTokens(...args), 'answer')
          const calls = aborts.map(async (gives) => {
            const controller = new AbortController()
            if (gives) void schedule.schedule(Promise.resolve(), 'abort').then(() => controller.abort())
            await schedule.schedule(Promise.resolve(), 'call')
            return tokens.getAccessToken(account, controller).catch((error: { code: string }) => error.code)
          })
          await schedule.waitFor(Promise.all(calls))
          const results = await Promise.all(calls)
          results.forEach((result, index) => {
            expect(aborts[index] ? ['a1', 'ERR_SSO_TIMEOUT'] : ['a1']).toContain(result)
          })
          // Even where everybody gave up, the refresh came to its end.
          expect(await schedule.waitFor(tokens.getAccessToken(account))).toBe('a1')
          expect(world.sent).toEqual(['r0'])
        },
      ),
      { numRuns: 100 },
    )
  })

  it('follows a hundred 401s, and none follows those of an older token (A5)', async () => {
    const { world, tokens } = await signedIn()
    const afterRefusal = async (): Promise<string> => {
      const refused = 'a0'
      await tokens.invalidate(account, refused)
      return tokens.getAccessToken(account)
    }
    expect(new Set(await Promise.all(Array.from({ length: 100 }, afterRefusal)))).toEqual(new Set(['a1']))
    expect(await afterRefusal()).toBe('a1')
    expect(world.sent).toEqual(['r0'])
  })

  it('is all that a 401 brings within minRefreshInterval', async () => {
    const { world, tokens } = await signedIn()
    for (let second = 0; second < 119; second += 1) {
      const current = await tokens.getAccessToken(account)
      await tokens.invalidate(account, current)
      await world.pass(1000)
    }
    expect(world.sent).toEqual(['r0', 'r1'])
  })

  it('can be asked for, but not twice within minRefreshInterval', async () => {
    const { world, tokens: one, other } = await signedIn()
    await Promise.all([one.refresh(account), one.refresh(account), other.getAccessToken(account)])
    expect(await one.getAccessToken(account)).toBe('a1')
    await other.refresh(account)
    expect(await other.getAccessToken(account)).toBe('a1')
    expect(world.sent).toEqual(['r0'])
    await world.pass(61_000)
    await other.refresh(account)
    expect(world.sent).toEqual(['r0', 'r1'])
  })

  it('asked for at any moment while a process only looks is still made', async () => {
    for (let moment = 0; moment < 40; moment += 1) {
      const world = bench()
      await world.process({ cachedAccounts: 1 }).save(account, world.tokens())
      const tokens = world.process({ cachedAccounts: 1 })
      const looking = tokens.getAccessToken(account)
      for (let tick = 0; tick < moment; tick += 1) await Promise.resolve()
      await tokens.refresh(account)
      await looking
      expect({ moment, token: await tokens.getAccessToken(account) }).toEqual({ moment, token: 'a1' })
      expect(world.sent).toEqual(['r0'])
    }
  })
})

describe('a look at the record beside a refresh', () => {
  it('never lets the refresh take the intent of another process for its own', async () => {
    const { world } = await signedIn(hours(9))
    const [one, other] = [world.process(), world.process()]
    const service = deferred<TokenSet>()
    world.answer = () => service.promise
    // The first process has decided to send, and looks once more at what is known of the firewall.
    const held = deferred<undefined>()
    const reading = deferred<undefined>()
    const beneath = { ...world.store }
    let looks = 0
    world.store.read = async (name) => {
      looks += name === account ? 0 : 1
      if (name === account || looks > 1) return beneath.read(name)
      reading.resolve(undefined)
      await held.promise
      return beneath.read(name)
    }
    const first = one.getAccessToken(account)
    await reading.promise
    // Meanwhile the other one sends, and a call of the first sees its intent.
    const second = other.getAccessToken(account)
    await idle()
    await one.status(account)
    held.resolve(undefined)
    await idle()
    service.resolve(world.tokens({ access_token: 'a1', refresh_token: 'r1' }))
    await world.pass(1000)
    expect(await Promise.all([first, second])).toEqual(['a1', 'a1'])
    expect(world.sent).toEqual(['r0'])
  })
})
