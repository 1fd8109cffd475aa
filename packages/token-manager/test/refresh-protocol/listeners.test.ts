/** What the application hangs on a token manager: a mistake in it is a warning, and ends neither the process nor the refresh. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it, jest } from '@jest/globals'
import { account, bench, signedIn } from './harness.ts'

const core = JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)

/** Runs a program in a process of its own, in which nobody catches what is caught nowhere. */
async function run(program: string): Promise<{ stdout: string; stderr: string }> {
  const source = `
    import { createTokenManager } from ${core}
    import { tracingChannel } from 'node:diagnostics_channel'
    const records = new Map()
    let down = false
    const store = {
      read: async (account) => {
        if (down) throw new Error('the store is down')
        return records.get(account)
      },
      swap: async (account, expected, record) => {
        if (down) throw new Error('the store is down')
        if ((records.get(account)?.version ?? 0) !== expected) return { conflict: true }
        records.set(account, { version: expected + 1, record: JSON.parse(JSON.stringify(record)) })
        return records.get(account)
      },
    }
    const expires_at = Math.floor(Date.now() / 1000) + 28_800
    const first = { access_token: 'a0', refresh_token: 'r0', token_type: 'Bearer', expires_at, auth_url: 'http://127.0.0.1:9' }
    let answer = () => undefined
    const issuer = {
      refresh: async (tokens) => {
        await answer()
        return { ...tokens, access_token: 'a1', refresh_token: 'the-new-refresh-token' }
      },
    }
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    const warnings = []
    process.on('warning', ({ name, code, message, detail }) => warnings.push({ name, code, message, detail }))
    const told = () => console.log(JSON.stringify({ warnings, records: [records.get('owner')] }))
    ${program}`
  return promisify(execFile)(process.execPath, ['--input-type=module', '-e', source], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
  })
}

interface Told {
  readonly warnings: readonly {
    readonly name: string
    readonly code: string
    readonly message: string
    readonly detail?: string
  }[]
  readonly records: readonly { readonly record: { readonly tokens: { readonly access_token: string } } }[]
}

const toldBy = async (program: string): Promise<Told> => JSON.parse((await run(program)).stdout)

describe('a listener of an event (B10)', () => {
  it('that throws or rejects ends no process that holds the only copy of new tokens', async () => {
    const { warnings, records } = await toldBy(`
      const tokens = createTokenManager({ issuer, store })
      await tokens.save('owner', first)
      const heard = []
      tokens.on('unsaved', () => { throw new Error('of the-new-refresh-token, in so many words') })
      tokens.on('unsaved', () => { throw new (class extends Error { static name = 'said: Words' })() })
      tokens.on('unsaved', () => { throw new (class extends Error { static name = 'Words said' })() })
      tokens.on('unsaved', async () => { throw new TypeError('of the-new-refresh-token, a moment later') })
      tokens.on('unsaved', () => Promise.reject(undefined))
      tokens.on('unsaved', () => { throw Object.defineProperty({}, 'stack', { get() { throw new Error('the-new-refresh-token') } }) })
      tokens.on('unsaved', () => { throw new Proxy(new Error('the-new-refresh-token'), { get() { throw new Error('the-new-refresh-token') } }) })
      tokens.on('unsaved', () => void heard.push('the next one'))
      answer = () => { down = true }
      await tokens.refresh('owner')
      await turn()
      if (heard.length !== 1 || await tokens.getAccessToken('owner') !== 'a1') throw new Error('not heard')
      down = false
      await tokens.settled()
      told()`)
    expect(records.map(({ record }) => record.tokens.access_token)).toContain('a1')
    expect(warnings.map(({ name, code, message }) => `${name} ${code}: ${message}`)).toEqual(
      // Those that rejected come after those that threw.
      [
        'Error',
        'Error',
        'Error',
        'it threw something that is not an error',
        'it threw something that can’t be looked at',
        'TypeError',
        'it threw something that is not an error',
      ].map(
        (thrown) =>
          `OwnerSsoWarning OWNER_SSO_CALLBACK: a listener of the event unsaved failed (${thrown}); the token manager goes on without it.`,
      ),
    )
    expect(JSON.stringify(warnings)).not.toMatch(/the-new-refresh-token|in so many words/u)
    // Its author finds the place.
    expect(warnings[0]?.detail).toMatch(/^at .*:\d+:\d+/u)
  })

  it('of any name does the refresh no harm', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const { world, tokens } = await signedIn()
    const names = ['refreshed', 'refresh-failed', 'in-doubt', 'unsaved', 'superseded', 'blocked'] as const
    for (const name of names) {
      tokens.on(name, () => {
        throw new Error(name)
      })
    }
    await tokens.refresh(account)
    expect(await world.process().getAccessToken(account)).toBe('a1')
    expect(warn).toHaveBeenCalledTimes(1)
    warn.mockRestore()
  })

  it('has to be a function', () => {
    const { on } = bench().process()
    expect(() => Reflect.apply(on, undefined, ['refreshed', undefined])).toThrow('listener must be a function')
  })
})

describe("a store's hint", () => {
  it.each<[string, () => () => void]>([
    [
      'throws when it is asked for',
      () => {
        throw new Error('no subscriptions here')
      },
    ],
    [
      'throws when it is ended',
      () => () => {
        throw new Error('nothing to end')
      },
    ],
    ['can not be ended', () => JSON.parse('{}', () => Promise.reject(new Error('asynchronous')))],
  ])('that %s costs nothing but the hint', async (_, watch) => {
    const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
    const world = bench()
    const [one, other] = [0, 1].map(() => world.process({ store: { ...world.store, watch } }))
    await one?.save(account, world.tokens({ expires_at: 0 }))
    world.answer = async (...call) => {
      await world.after(1000)
      return world.newTokens(...call)
    }
    const calls = Promise.all([one, other].map(async (tokens) => tokens?.getAccessToken(account)))
    await world.pass(2000)
    expect(await calls).toEqual(['a1', 'a1'])
    expect(warn.mock.calls.flat()).toContainEqual(expect.objectContaining({ code: 'OWNER_SSO_CALLBACK' }))
    warn.mockRestore()
  })
})

describe('a subscriber of owner-sso:refresh', () => {
  it('that throws, which ends the process by a rule of Node’s, finds the new tokens stored', async () => {
    const { stdout } = await run(`
      const tokens = createTokenManager({ issuer, store })
      process.on('exit', () => { process.exitCode = 0; console.log(records.get('owner').record.tokens.access_token) })
      await tokens.save('owner', first)
      tracingChannel('owner-sso:refresh').subscribe({ asyncStart() { throw new Error('of the subscriber') } })
      answer = () => { down = true; setTimeout(() => { down = false }, 300) }
      await tokens.refresh('owner')
      await tokens.settled()
      await turn()`).catch((error: { stdout: string }) => error)
    expect(stdout.trim()).toBe('a1')
  })
})
