/** A store of somebody else's that never answers: every call ends with a typed error, after ten seconds. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { copyTokenSets, type TokenManager, type TokenStore } from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { account, bench, type Bench } from './harness.ts'

const core = JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)
const never = (): Promise<never> => new Promise(() => undefined)
const deaf: TokenStore = {
  read: never,
  swap: never,
  accounts: () => ({ [Symbol.asyncIterator]: () => ({ next: never, return: never }) }),
}
const unavailable = { code: 'ERR_SSO_STORE', reason: 'unavailable' }
const writeFailed = { code: 'ERR_SSO_STORE', reason: 'write-failed' }

function limited(): Bench {
  const world = bench()
  world.hasTimeLimits = true
  return world
}

/** What a call comes to that waits for the store until that is given up. */
async function inTime(world: Bench, call: Promise<unknown>): Promise<unknown> {
  const outcome = call.catch((error: unknown) => error)
  await world.pass(10_000)
  return outcome
}

/** A store whose next writes are carried out only when the test says so. */
function slowWrites(world: Bench) {
  const late: (() => Promise<unknown>)[] = []
  let slow = 0
  const swap: TokenStore['swap'] = async (...write) => {
    if (slow === 0) return world.store.swap(...write)
    slow -= 1
    late.push(() => world.store.swap(...write))
    return never()
  }
  return {
    store: { ...world.store, swap },
    slowDown: (writes: number) => void (slow = writes),
    carryOut: () => Promise.all(late.splice(0).map((write) => write())),
  }
}

describe('a store that does not answer (E10)', () => {
  it.each<[string, (tokens: TokenManager, world: Bench) => Promise<unknown>]>([
    ['getAccessToken', (tokens) => tokens.getAccessToken(account)],
    ['refresh', (tokens) => tokens.refresh(account)],
    ['invalidate', (tokens) => tokens.invalidate(account, 'a0')],
    ['status', (tokens) => tokens.status(account)],
    ['save', (tokens, world) => tokens.save(account, world.tokens())],
    ['forget', (tokens) => tokens.forget(account)],
    ['accounts', (tokens) => tokens.accounts()[Symbol.asyncIterator]().next()],
  ])('%s ends with a typed error, and settles', async (_name, call) => {
    const world = limited()
    const tokens = world.process({ store: deaf })
    expect(await inTime(world, call(tokens, world))).toMatchObject(unavailable)
    await tokens.settled()
  })

  it('a write that was given up and is carried out after all harms no sign-in: the repeated one stands', async () => {
    const world = limited()
    const { store, slowDown, carryOut } = slowWrites(world)
    const tokens = world.process({ store })
    slowDown(1)
    expect(await inTime(world, tokens.save(account, world.tokens()))).toMatchObject(writeFailed)
    await carryOut()
    await tokens.save(account, world.tokens({ access_token: 'again' }))
    expect(await tokens.getAccessToken(account)).toBe('again')
    expect((await store.read(account))?.record).toMatchObject({ tokens: { access_token: 'again' } })
  })

  it('such a write harms no refresh: an intent is taken for unsent, a result for stored', async () => {
    const world = limited()
    const { store, slowDown, carryOut } = slowWrites(world)
    const tokens = world.process({ store })
    await tokens.save(account, world.tokens({ expires_at: 0 }))
    slowDown(1)
    expect(await inTime(world, tokens.getAccessToken(account))).toMatchObject(writeFailed)
    await carryOut()
    world.answer = (...call) => {
      // The intent is there; the result will take its time.
      slowDown(1)
      return world.newTokens(...call)
    }
    expect(await inTime(world, tokens.getAccessToken(account))).toBe('a1')
    await carryOut()
    await world.pass(1000)
    await tokens.settled()
    expect(world.sent).toEqual(['r0'])
    const { version, record } = (await store.read(account)) ?? {}
    expect({ version, record }).toMatchObject({ version: 4, record: { refreshes: 1, tokens: { access_token: 'a1' } } })
  })
})

// By real time, and all at once.
describe('a real process', () => {
  it.concurrent('copies from no such store', async () => {
    await expect(copyTokenSets(deaf, mapStore())).rejects.toMatchObject(unavailable)
  }, 60_000)

  it.concurrent('that waits for such a store alone stays alive until it has its error', async () => {
    const program = `
      import { createTokenManager } from ${core}
      const never = () => new Promise(() => undefined)
      const tokens = createTokenManager({ issuer: { refresh: never }, store: { read: never, swap: never } })
      console.log(await tokens.status('owner').catch((error) => error.code + ' ' + error.reason))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
    expect(stdout.trim()).toBe('ERR_SSO_STORE unavailable')
  }, 60_000)

  it.concurrent('that was blocked for longer than the limit still hears the answer that has come meanwhile', async () => {
    const program = `
      import { readFile } from 'node:fs/promises'
      import { createTokenManager } from ${core}
      const read = async () => {
        for (let part = 0; part < 5; part += 1) await readFile(new URL(${core}))
        return undefined
      }
      const tokens = createTokenManager({ issuer: { refresh: read }, store: { read, swap: read } })
      const asked = tokens.status('owner').catch((error) => error)
      await new Promise((resolve) => process.nextTick(resolve))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 11_000)
      console.log(JSON.stringify(await asked))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
    expect(stdout.trim()).toBe('{"state":"signed-out"}')
  }, 60_000)
})
