/** A store of somebody else's that never answers: by real timers, every call ends with a typed error. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { copyTokenSets, createTokenManager, type TokenManager, type TokenStore } from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { account, bench } from './harness.ts'

const core = JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)
const never = (): Promise<never> => new Promise(() => undefined)
const deaf: TokenStore = {
  read: never,
  swap: never,
  accounts: () => ({ [Symbol.asyncIterator]: () => ({ next: never, return: never }) }),
}
const tokenSet = { ...bench().tokens(), expires_at: Math.floor(Date.now() / 1000) + 28_800 }
const sso = { refresh: async () => ({ ...tokenSet, access_token: 'a1', refresh_token: 'r1' }) }
const unavailable = { code: 'ERR_SSO_STORE', reason: 'unavailable' }
const writeFailed = { code: 'ERR_SSO_STORE', reason: 'write-failed' }

async function namesOf(tokens: TokenManager): Promise<string[]> {
  const names: string[] = []
  for await (const name of tokens.accounts()) names.push(name)
  return names
}

/** A store whose next write is carried out only when the test says so. */
function slowWrites() {
  const store = mapStore()
  const late: (() => Promise<unknown>)[] = []
  const swap = store.swap.bind(store)
  let slow = 0
  return {
    store: {
      ...store,
      swap: async (...write: Parameters<TokenStore['swap']>) => {
        if (slow === 0) return swap(...write)
        slow -= 1
        return new Promise<never>(() => {
          late.push(() => swap(...write))
        })
      },
    } satisfies TokenStore,
    slowDown: (writes: number) => void (slow = writes),
    carryOut: () => Promise.all(late.splice(0).map((write) => write())),
  }
}

// In one block, so that all of them wait at the same time.
describe('a store that does not answer (E10)', () => {
  // All at once: each of them takes ten seconds.
  const calls: Record<string, [expected: object, call: (tokens: TokenManager) => Promise<unknown>]> = {
    getAccessToken: [unavailable, (tokens) => tokens.getAccessToken(account)],
    refresh: [unavailable, (tokens) => tokens.refresh(account)],
    invalidate: [unavailable, (tokens) => tokens.invalidate(account, 'a0')],
    status: [unavailable, (tokens) => tokens.status(account)],
    save: [unavailable, (tokens) => tokens.save(account, tokenSet)],
    forget: [unavailable, (tokens) => tokens.forget(account)],
    accounts: [unavailable, namesOf],
    'save, where reads are answered': [
      writeFailed,
      () => createTokenManager({ sso, store: { ...deaf, read: async () => undefined } }).save(account, tokenSet),
    ],
    'copyTokenSets from it': [unavailable, () => copyTokenSets(deaf, mapStore())],
  }

  it.concurrent('over it every call ends with a typed error, and settles', async () => {
    const ended = Object.entries(calls).map(async ([name, [expected, call]]) => {
      const tokens = createTokenManager({ sso, store: deaf })
      const error: unknown = await call(tokens).catch((thrown: unknown) => thrown)
      await tokens.settled()
      return { name, expected, error }
    })
    for (const { name, expected, error } of await Promise.all(ended)) {
      expect({ name, error }).toMatchObject({ name, error: expected })
    }
  }, 60_000)

  it.concurrent('a write that was given up and is carried out after all harms no sign-in: the repeated one stands', async () => {
    const { store, slowDown, carryOut } = slowWrites()
    const tokens = createTokenManager({ sso, store })
    slowDown(1)
    await expect(tokens.save(account, tokenSet)).rejects.toMatchObject(writeFailed)
    await carryOut()
    await tokens.save(account, { ...tokenSet, access_token: 'again' })
    expect(await tokens.getAccessToken(account)).toBe('again')
    expect((await store.read(account))?.record).toMatchObject({ tokens: { access_token: 'again' } })
  }, 60_000)

  it.concurrent('such a write harms no refresh: an intent is taken for unsent, a result for stored', async () => {
    const { store, slowDown, carryOut } = slowWrites()
    let sent = 0
    const counting = {
      refresh: async () => {
        sent += 1
        // The intent is there; the result will take its time.
        slowDown(1)
        return { ...tokenSet, access_token: 'a1', refresh_token: 'r1' }
      },
    }
    const tokens = createTokenManager({ sso: counting, store })
    await tokens.save(account, { ...tokenSet, expires_at: 1 })
    slowDown(1)
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject(writeFailed)
    await carryOut()
    expect(await tokens.getAccessToken(account)).toBe('a1')
    expect(sent).toBe(1)
    await carryOut()
    await tokens.settled()
    expect((await store.read(account))?.record).toMatchObject({ refreshes: 1, tokens: { access_token: 'a1' } })
    expect((await store.read(account))?.version).toBe(4)
  }, 120_000)

  it.concurrent('a process that waits for such a store alone stays alive until it has its error', async () => {
    const program = `
      import { createTokenManager } from ${core}
      const never = () => new Promise(() => undefined)
      const tokens = createTokenManager({ sso: { refresh: never }, store: { read: never, swap: never } })
      console.log(await tokens.status('owner').catch((error) => error.code + ' ' + error.reason))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
    expect(stdout.trim()).toBe('ERR_SSO_STORE unavailable')
  }, 60_000)

  it.concurrent('a process that was blocked for longer than the limit still hears the answer that has come meanwhile', async () => {
    const program = `
      import { readFile } from 'node:fs/promises'
      import { createTokenManager } from ${core}
      const read = async () => {
        for (let part = 0; part < 5; part += 1) await readFile(new URL(${core}))
        return undefined
      }
      const tokens = createTokenManager({ sso: { refresh: read }, store: { read, swap: read } })
      const asked = tokens.status('owner').catch((error) => error)
      await new Promise((resolve) => process.nextTick(resolve))
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 11_000)
      console.log(JSON.stringify(await asked))`
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
    expect(stdout.trim()).toBe('{"state":"signed-out"}')
  }, 60_000)
})
