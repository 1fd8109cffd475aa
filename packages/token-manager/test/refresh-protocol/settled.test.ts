/** `settled()`: nothing of this process is half-way, and nothing new begins beside, so that it may exit. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import type { TokenManager, TokenSet } from '../../src/index.ts'
import { account, deferred, hours, idle, signedIn } from './harness.ts'

const core = JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)

/** Whether it has settled by now. */
function settling(tokens: TokenManager): { readonly settled: () => boolean; readonly end: Promise<void> } {
  let settled = false
  const end = tokens.settled().then(() => void (settled = true))
  return { settled: () => settled, end }
}

describe('settled() (B9)', () => {
  it('waits for a refresh in the background that still reads the store, and for its save', async () => {
    const { world, tokens } = await signedIn(hours(6.7))
    const read = world.store.read.bind(world.store)
    const slow = deferred<void>()
    world.store.read = async (name) => {
      await slow.promise
      return read(name)
    }
    expect(await tokens.getAccessToken(account)).toBe('a0')
    const { settled, end } = settling(tokens)
    await idle()
    expect(settled()).toBe(false)
    slow.resolve()
    await end
    expect((await read(account))?.record).toMatchObject({ tokens: { access_token: 'a1' } })
    expect(world.sent).toEqual(['r0'])
  })

  it('waits for what the work that it waits for has begun: a save that the store refuses at first', async () => {
    const { world, tokens } = await signedIn(hours(8))
    const answer = deferred<TokenSet>()
    world.answer = () => answer.promise
    const call = tokens.getAccessToken(account)
    await idle()
    const { settled, end } = settling(tokens)
    const swap = world.store.swap.bind(world.store)
    world.store.swap = () => Promise.reject(new Error('the store is down'))
    answer.resolve(world.tokens({ access_token: 'new', refresh_token: 'new' }))
    // The refresh has ended, and what it began has not.
    expect(await call).toBe('new')
    await idle()
    expect(settled()).toBe(false)
    world.store.swap = swap
    await world.pass(1000)
    await end
    expect((await world.store.read(account))?.record).toMatchObject({ tokens: { access_token: 'new' } })
  })

  it('ends the wait for another process’s refresh that nobody here needs, and nothing is sent after it', async () => {
    const { world, tokens: holder, other: leaving } = await signedIn(hours(6.7))
    world.answer = () => new Promise(() => undefined)
    await holder.getAccessToken(account)
    await idle()
    expect(await leaving.getAccessToken(account)).toBe('a0')
    await world.pass(500)
    const { settled } = settling(leaving)
    await world.pass(300)
    expect(settled()).toBe(true)
    // Its holder dies while this process is on its way out.
    world.liveness.set(1, 'dead')
    await world.pass(1000)
    await world.pass(hours(1.5))
    expect(world.sent).toEqual(['r0'])
  })

  it('waits with the caller that does need it', async () => {
    const { world, tokens: holder, other: waiter } = await signedIn(hours(8))
    const answer = deferred<TokenSet>()
    world.answer = () => answer.promise
    const [call, waiting] = [holder.getAccessToken(account), waiter.getAccessToken(account)]
    await world.pass(500)
    const { settled, end } = settling(waiter)
    await world.pass(5000)
    expect(settled()).toBe(false)
    answer.resolve(world.tokens({ access_token: 'new', refresh_token: 'new' }))
    await world.pass(500)
    await end
    expect([await call, await waiting]).toEqual(['new', 'new'])
  })

  it('begins no other refresh in the background meanwhile, and lets them begin again afterwards', async () => {
    const { world, tokens } = await signedIn()
    await tokens.save('other', world.tokens({ access_token: 'b0', refresh_token: 's0' }))
    await world.pass(hours(6.7))
    const answer = deferred<TokenSet>()
    const { answer: service } = world
    world.answer = () => answer.promise
    await tokens.getAccessToken(account)
    await idle()
    const { end } = settling(tokens)
    expect(await tokens.getAccessToken('other')).toBe('b0')
    await idle()
    expect(world.sent).toEqual(['r0'])
    answer.resolve(world.tokens({ access_token: 'a1', refresh_token: 'r1' }))
    await end
    world.answer = service
    expect(await tokens.getAccessToken('other')).toBe('b0')
    await idle()
    expect(world.sent).toEqual(['r0', 's0'])
  })

  it('given up by its signal, holds nothing back any more', async () => {
    const { world, tokens } = await signedIn()
    await tokens.save('other', world.tokens({ access_token: 'b0', refresh_token: 's0' }))
    await world.pass(hours(6.7))
    world.answer = () => new Promise(() => undefined)
    await tokens.getAccessToken(account)
    await expect(tokens.settled({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'ERR_SSO_TIMEOUT' })
    await tokens.getAccessToken('other')
    await idle()
    expect(world.sent).toEqual(['r0', 's0'])
  })

  it.each([
    ['a sign-in', (tokens: TokenManager, set: TokenSet) => tokens.save(account, set)],
    ['a sign-out', (tokens: TokenManager) => tokens.forget(account)],
    ['a status', (tokens: TokenManager) => tokens.status(account)],
    ['a refused token', (tokens: TokenManager) => tokens.invalidate(account, 'a0')],
  ])('waits for %s, which may write', async (_, call) => {
    const { world } = await signedIn()
    const tokens = world.process()
    const read = world.store.read.bind(world.store)
    const slow = deferred<void>()
    world.store.read = async (name) => {
      await slow.promise
      return read(name)
    }
    const calling = call(tokens, world.tokens())
    const { settled, end } = settling(tokens)
    await idle()
    expect(settled()).toBe(false)
    slow.resolve()
    await Promise.all([calling, end])
  })

  it('lets a real process exit right after it, with the tokens stored that a refresh beside brought', async () => {
    const program = `
      const turn = () => new Promise((resolve) => setImmediate(resolve))
      const now = Date.now
      let ahead = 0
      Date.now = () => now() + ahead
      const { createTokenManager } = await import(${core})
      const records = new Map()
      const store = {
        read: async (account) => {
          await turn()
          return records.get(account)
        },
        swap: async (account, expected, record) => {
          await turn()
          if ((records.get(account)?.version ?? 0) !== expected) return { conflict: true }
          records.set(account, { version: expected + 1, record: JSON.parse(JSON.stringify(record)) })
          return records.get(account)
        },
      }
      let sent = 0
      const issuer = { refresh: async (tokens) => {
        sent += 1
        await turn()
        return { ...tokens, access_token: 'a1', refresh_token: 'r1', expires_at: Date.now() / 1000 + 28_800 }
      } }
      const tokens = createTokenManager({ issuer, store })
      const expires_at = now() / 1000 + 28_800
      await tokens.save('owner', { access_token: 'a0', refresh_token: 'r0', token_type: 'Bearer', expires_at, auth_url: 'http://127.0.0.1:9' })
      ahead = 7 * 3_600_000
      process.on('exit', () => console.log(sent, records.get('owner').record.tokens.access_token, records.get('owner').record.intent))
      await tokens.getAccessToken('owner')
      await tokens.settled()
      // What every server does next: it closes the client of its store.
      await turn()
      process.exit(0)`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
    expect(stdout.trim()).toBe('1 a1 undefined')
  })
})
