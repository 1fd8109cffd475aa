/** The firewall: one process meets it, and the whole fleet leaves the service alone (B-I). */
import { describe, expect, it } from '@jest/globals'
import {
  FirewallChallengeError,
  firewallRecordName,
  StoreError,
  TokenRejectedError,
  type TokenSet,
  type TokenStore,
  UnreachableError,
} from '../../src/index.ts'
import { account, type Bench, bench, heardBy, hours, namesIn, signedIn } from '../refresh-protocol/harness.ts'

const host = 'http://127.0.0.1:9'

/** Blocks for a quarter of an hour, as a challenge page without `Retry-After` does. */
function block(world: Bench, seconds = 900): void {
  world.answer = (): Promise<TokenSet> =>
    Promise.reject(
      new FirewallChallengeError(Math.ceil(world.now() / 1000 + seconds), { step: 'refresh', status: 403 }),
    )
}

describe('a challenge', () => {
  it('stops every process that shares the store, while the working token is served', async () => {
    const world = bench()
    const [one, other] = [world.process(), world.process()]
    const heard = heardBy(one, 'blocked')
    await one.save(account, world.tokens())
    await one.save('another', world.tokens({ access_token: 'b0', refresh_token: 's0' }))
    block(world)
    await world.pass(hours(7))
    expect(await one.getAccessToken(account)).toBe('a0')
    await world.pass(1000)
    expect(await other.getAccessToken('another')).toBe('b0')
    await expect(other.refresh('another')).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    const nextAttemptAt = Math.ceil((world.now() - 1000) / 1000 + 900)
    expect(heard).toEqual([{ account, auth_url: host, nextAttemptAt }])
    await expect(other.refresh(account)).rejects.toMatchObject({ nextAttemptAt })
    expect(world.sent).toEqual(['r0'])
  })

  it('leaves the refresh token unspent, and the account in no doubt', async () => {
    const { world, tokens } = await signedIn(hours(8))
    block(world)
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    expect(await tokens.status(account)).toMatchObject({ state: 'expired' })
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    world.answer = world.newTokens
    await world.pass(901_000)
    expect(await tokens.getAccessToken(account)).toBe('a1')
    expect(await tokens.getAccessToken(account)).toBe('a1')
    expect((await world.store.read(firewallRecordName(host)))?.record).toMatchObject({ challenges: 0 })
  })

  it('for a day, with eight processes and callers all the time, brings twelve requests at most (I2)', async () => {
    const world = bench()
    // The waits are the shortest that chance allows.
    const fleet = Array.from({ length: 8 }, () => world.process({ cachedAccounts: 1 }, 0, () => 0))
    await fleet[0]?.save(account, world.tokens())
    await world.pass(hours(8))
    block(world)
    for (let quarter = 0; quarter < 24 * 4; quarter += 1) {
      const calls = Promise.allSettled(fleet.map(async (tokens) => tokens.getAccessToken(account)))
      await world.pass(900_000)
      expect((await calls).every(({ status }) => status === 'rejected')).toBe(true)
    }
    expect(world.sent.length).toBeGreaterThan(5)
    expect(world.sent.length).toBeLessThanOrEqual(12)
  })

  it('is probed by one process when its time is over', async () => {
    const world = bench()
    const fleet = Array.from({ length: 8 }, () => world.process())
    const accounts = fleet.map((_, index) => `owner-${index}@example.com`)
    for (const name of accounts) await fleet[0]?.save(name, world.tokens({ refresh_token: name }))
    await world.pass(hours(8))
    block(world)
    const round = async (): Promise<FirewallChallengeError[]> => {
      const calls = fleet.map(async (tokens, index) =>
        tokens.getAccessToken(accounts[index] ?? '').catch((error: unknown) => error),
      )
      const [answers] = await Promise.all([Promise.all(calls), world.pass(1000)])
      return answers.filter((answer) => answer instanceof FirewallChallengeError)
    }
    await fleet[0]?.getAccessToken(accounts[0] ?? '').catch(() => undefined)
    expect(world.sent).toHaveLength(1)
    await world.pass(901_000)
    const began = world.now() / 1000
    const errors = await round()
    expect(world.sent).toHaveLength(2)
    // The probe has a minute.
    const told = errors.map((error) => error.nextAttemptAt - began)
    expect(told.toSorted((one, other) => one - other)).toEqual([...Array<number>(7).fill(60), 1800])
  })

  it('whose probe is never answered is probed by another process after a minute, and not before', async () => {
    const { world, tokens: one, other } = await signedIn()
    await one.save('another', world.tokens({ access_token: 'b0', refresh_token: 's0' }))
    await world.pass(hours(8))
    block(world)
    await one.getAccessToken(account).catch(() => undefined)
    await world.pass(900_000)
    world.answer = () => new Promise(() => undefined)
    void one.getAccessToken(account).catch(() => undefined)
    await world.pass(59_000)
    await expect(other.getAccessToken('another')).rejects.toMatchObject({
      code: 'ERR_SSO_FIREWALL_CHALLENGE',
      nextAttemptAt: world.now() / 1000 + 1,
    })
    await world.pass(1000)
    void other.getAccessToken('another').catch(() => undefined)
    await world.pass(0)
    expect(world.sent).toEqual(['r0', 'r0', 's0'])
  })

  it.each([
    [900, 0, [900, 1440, 2880, 5760, 11_520, 11_520]],
    [900, 0.5, [900, 1800, 3600, 7200, 14_400, 14_400]],
    [900, 1, [1081, 2161, 4321, 8641, 17_281, 17_281]],
    [6 * 3600, 0, [21_600, 21_600]],
    [6 * 3600, 0.5, [21_600, 21_600]],
    [6 * 3600, 1, [25_921, 25_921]],
    [-5, 0.5, [1, 2, 4]],
  ])('that asks for %d s is waited out for longer each time (random %d)', async (seconds, random, waits) => {
    const world = bench()
    const tokens = world.process({}, 0, () => random)
    await tokens.save(account, world.tokens())
    await world.pass(hours(8))
    block(world, seconds)
    const waited: unknown[] = []
    for (const wait of waits) {
      await tokens.getAccessToken(account).catch(() => undefined)
      waited.push((await world.store.read(firewallRecordName(host)))?.record)
      await world.pass(wait * 1000)
    }
    expect(waited).toMatchObject(waits.map((wait, index) => ({ wait, challenges: index + 1 })))
    expect(world.sent).toHaveLength(waits.length)
  })

  it('is one challenge for all requests that were under way together, of any process; a probe’s is a further one', async () => {
    const world = bench()
    const fleet = [world.process(), world.process()]
    const accounts = Array.from({ length: 8 }, (_, index) => `owner-${index}@example.com`)
    for (const name of accounts) await fleet[0]?.save(name, world.tokens({ refresh_token: name }))
    await world.pass(hours(8))
    // The answers come one second after the other.
    world.answer = async () => {
      await world.after(1000 * world.sent.length)
      throw new FirewallChallengeError(Math.ceil(world.now() / 1000 + 900), { step: 'refresh', status: 403 })
    }
    const round = async (): Promise<unknown> => {
      const calls = accounts.map(async (name, index) => fleet[index % 2]?.getAccessToken(name))
      await Promise.all([Promise.allSettled(calls), world.pass(20_000)])
      return (await world.store.read(firewallRecordName(host)))?.record
    }
    expect(await round()).toMatchObject({ challenges: 1, wait: 900 })
    expect(world.sent).toHaveLength(8)
    await world.pass(901_000)
    expect(await round()).toMatchObject({ challenges: 2, wait: 1800 })
    expect(world.sent).toHaveLength(9)
  })

  it('is not taken back by an answer to a request that was under way when it came', async () => {
    const world = bench()
    const tokens = world.process()
    for (const name of ['first', 'second', 'third'])
      await tokens.save(name, world.tokens({ refresh_token: name, access_token: name }))
    await world.pass(hours(8))
    block(world)
    const blocked = world.answer
    world.answer = async (sent, options) => {
      if (sent.refresh_token === 'second') await world.after(2000)
      return sent.refresh_token === 'first' ? blocked(sent, options) : world.newTokens(sent, options)
    }
    const calls = Promise.allSettled(['first', 'second'].map(async (name) => tokens.getAccessToken(name)))
    await world.pass(3000)
    expect(await calls).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled' }])
    await expect(tokens.getAccessToken('third')).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    expect((await world.store.read(firewallRecordName(host)))?.record).toMatchObject({ challenges: 1, wait: 900 })
    expect(world.sent).toEqual(['first', 'second'])
  })

  it('lasts as long as the first that heard of it were told, whatever the pages after it say', async () => {
    const world = bench()
    const tokens = world.process()
    const heard: number[] = []
    tokens.on('blocked', ({ nextAttemptAt }) => heard.push(nextAttemptAt))
    for (const name of ['first', 'second', 'third'])
      await tokens.save(name, world.tokens({ refresh_token: name, access_token: name }))
    await world.pass(hours(8))
    world.answer = async ({ refresh_token }) => {
      if (refresh_token === 'second') await world.after(2000)
      const wait = refresh_token === 'first' ? 3600 : 900
      throw new FirewallChallengeError(Math.ceil(world.now() / 1000 + wait), { step: 'refresh', status: 403 })
    }
    const calls = Promise.allSettled(['first', 'second'].map(async (name) => tokens.getAccessToken(name)))
    await world.pass(3000)
    await calls
    expect(heard[1]).toBeGreaterThanOrEqual(heard[0] ?? 0)
    await world.pass(1000 * (heard[0] ?? 0) - world.now() - 1)
    await expect(tokens.getAccessToken('third')).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    expect(world.sent).toEqual(['first', 'second'])
  })

  it('tells who met it when the next request may go, also where that is later than the page says', async () => {
    const { world, tokens } = await signedIn(hours(8))
    block(world)
    const met = async (): Promise<unknown> =>
      tokens
        .getAccessToken(account)
        .catch((error: unknown) => error instanceof FirewallChallengeError && error.nextAttemptAt)
    await met()
    await world.pass(901_000)
    const told = await met()
    expect(world.sent).toHaveLength(2)
    expect(told).toBe(await met())
  })

  it('is remembered by its own process where the store is down', async () => {
    const { world, tokens } = await signedIn(hours(8))
    const challenged = new FirewallChallengeError(Math.ceil(world.now() / 1000 + 900), { status: 403 })
    world.answer = async () => {
      world.store.down = true
      throw challenged
    }
    await expect(tokens.getAccessToken(account)).rejects.toStrictEqual(challenged)
    world.store.down = false
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    expect(world.sent).toEqual(['r0'])
  })

  it('noted by a clock a day ahead keeps processes that live for one call no longer than its own time', async () => {
    const { world } = await signedIn(hours(8))
    block(world, 24 * 3600 + 900)
    await world
      .process({}, hours(24))
      .getAccessToken(account)
      .catch(() => undefined)
    world.answer = world.newTokens
    const noted = await world.store.read(firewallRecordName(host))
    expect(noted?.record).toMatchObject({ challenges: 1, wait: 900 })
    const ask = (): Promise<string> => world.process().getAccessToken(account)
    await expect(ask()).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    await world.pass(898_000)
    await expect(ask()).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    await world.pass(3000)
    expect(await ask()).toBe('a1')
    expect(world.sent).toEqual(['r0', 'r0'])
  })

  it.each([-600, 600])('of five minutes holds for who looked before it, though its clock is %d s off', async (skew) => {
    const world = bench()
    const [one, other] = [world.process(), world.process({}, skew * 1000)]
    await one.save(account, world.tokens())
    await one.save('another', world.tokens({ access_token: 'b0', refresh_token: 's0' }))
    await other.refresh('another')
    await world.pass(120_000)
    block(world, 300)
    await one.refresh(account).catch(() => undefined)
    await world.pass(60_000)
    await expect(other.refresh('another')).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    // It began at some time since that look, three minutes ago.
    await world.pass(300_000)
    await other.refresh('another').catch(() => undefined)
    expect(world.sent).toEqual(['s0', 'r0', 'r1'])
  })

  it('that the flow’s own breaker answered is not counted as another one', async () => {
    const { world, tokens } = await signedIn(hours(8))
    world.answer = () =>
      Promise.reject(new FirewallChallengeError(Math.ceil(world.now() / 1000 + 900), { requestSent: false }))
    for (let time = 0; time < 4; time += 1) {
      await tokens.getAccessToken(account).catch(() => undefined)
      await world.pass(901_000)
    }
    expect((await world.store.read(firewallRecordName(host)))?.record).toMatchObject({ challenges: 1, wait: 900 })
  })

  it('is no account: neither listed nor usable as one', async () => {
    const { world, tokens } = await signedIn()
    block(world)
    await tokens.refresh(account).catch(() => undefined)
    const names = await namesIn(tokens)
    expect(names).toEqual([account])
    await expect(tokens.getAccessToken(firewallRecordName(host))).rejects.toThrow(TypeError)
  })
})

describe('after a block', () => {
  it('a probe that is refused for another reason ends it for everybody', async () => {
    const world = await afterBlock()
    const { answer } = world
    world.answer = () => Promise.reject(new TokenRejectedError('invalid_client', { step: 'refresh', status: 401 }))
    await expect(world.process().getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_TOKEN_REJECTED' })
    world.answer = answer
    expect(await world.process().getAccessToken('another')).toBe('a1')
  })
})

/** Two accounts whose tokens have ended, and a block whose time is over. */
async function afterBlock(): Promise<Bench> {
  const { world, tokens } = await signedIn()
  await tokens.save('another', world.tokens({ access_token: 'b0', refresh_token: 's0' }))
  await world.pass(hours(8))
  const { answer } = world
  block(world)
  await tokens.getAccessToken(account).catch(() => undefined)
  world.answer = answer
  await world.pass(901_000)
  return world
}

describe('a probe that was not used is given back:', () => {
  /** Something happens right before its first write of a record: of the account's, once the probe is claimed. */
  function stumbling({ store }: Bench, goWrong: () => Promise<unknown>, where = account): TokenStore {
    let hasStumbled = false
    const swap: TokenStore['swap'] = async (name, ...rest) => {
      if (name === where && !hasStumbled) {
        hasStumbled = true
        await goWrong()
      }
      return store.swap(name, ...rest)
    }
    return { ...store, swap }
  }

  it('another process wrote the record meanwhile', async () => {
    const world = await afterBlock()
    const other = world.process()
    const newer = world.tokens({ access_token: 'a9', refresh_token: 'r9', expires_at: 0 })
    const store = stumbling(world, () => other.save(account, newer))
    expect(await world.process({ store }).getAccessToken(account)).toBe('a1')
    expect(world.sent).toEqual(['r0', 'r9'])
  })

  it('nor does anybody wait for one that was over before it could be claimed', async () => {
    const world = await afterBlock()
    const other = world.process()
    const store = stumbling(world, () => other.getAccessToken('another'), firewallRecordName(host))
    expect(await world.process({ store }).getAccessToken(account)).toBe('a2')
    expect(world.sent).toEqual(['r0', 's0', 'r0'])
  })

  it.each([
    [1, ['a1']],
    [2, ['write-failed', 'a1']],
  ])('the store took the claim, and its connection broke before it said so (%d times)', async (times, answers) => {
    const world = await afterBlock()
    let broken = 0
    const swap: TokenStore['swap'] = async (name, ...rest) => {
      const outcome = await world.store.swap(name, ...rest)
      if (name !== firewallRecordName(host) || (broken += 1) > times) return outcome
      throw new StoreError('write-failed', 'The connection broke.')
    }
    const tokens = world.process({ store: { ...world.store, swap } })
    for (const answer of answers) {
      expect(await tokens.getAccessToken(account).catch(({ reason }: StoreError) => reason)).toBe(answer)
    }
    expect(await world.process().getAccessToken('another')).toBe('a2')
    expect(world.sent).toEqual(['r0', 'r0', 's0'])
  })

  it('the intent could not be written', async () => {
    const world = await afterBlock()
    const store = stumbling(world, () => Promise.reject(new StoreError('write-failed', 'Not this record.')))
    await expect(world.process({ store }).getAccessToken(account)).rejects.toMatchObject({ reason: 'write-failed' })
    expect(await world.process().getAccessToken('another')).toBe('a1')
  })

  it('there was no connection, for as long as nothing was sent', async () => {
    const world = await afterBlock()
    world.connect = () =>
      Promise.reject(new UnreachableError('No connection.', { step: 'refresh', requestSent: false }))
    const tokens = world.process()
    const unreachable = { code: 'ERR_SSO_UNREACHABLE', requestSent: false }
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject(unreachable)
    await expect(tokens.getAccessToken('another')).rejects.toMatchObject(unreachable)
    const stored = await world.store.read(firewallRecordName(host))
    expect(stored?.record).toMatchObject({ challenges: 1, wait: 0 })
    world.connect = (beforeSend) => beforeSend()
    expect(await world.process().getAccessToken('another')).toBe('a1')
  })

  it('the process was held up before it could send', async () => {
    const world = await afterBlock()
    let isHeldUp = true
    world.connect = async (beforeSend) => {
      if (isHeldUp) await world.after(11_000)
      isHeldUp = false
      beforeSend()
    }
    const call = world.process().getAccessToken(account)
    await world.pass(11_000)
    expect(await call).toBe('a1')
  })
})
