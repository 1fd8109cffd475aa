/** One AbortSignal for any number of calls, as a server has that ends all of them when it stops. */
import { execFile } from 'node:child_process'
import { getEventListeners } from 'node:events'
import { promisify } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { onAbort } from '../../src/support.ts'
import { account, bench } from '../refresh-protocol/harness.ts'

describe('many calls on one signal', () => {
  it('make Node warn of no leak, and all end with it', async () => {
    const program = `
      import { createTokenManager } from '@owner-sso/token-manager'
      let stored
      const store = {
        read: async (name) => (name === 'owner' ? stored : undefined),
        swap: async (name, expected, record) => {
          const written = { version: expected + 1, record }
          if (name === 'owner') stored = written
          return written
        },
      }
      const tokens = createTokenManager({ issuer: { refresh: () => new Promise(() => {}) }, store })
      await tokens.save('owner', ${JSON.stringify(bench().tokens({ expires_at: 0 }))})
      const stop = new AbortController()
      const calls = Array.from({ length: 50 }, () => tokens.getAccessToken('owner', { signal: stop.signal }))
      setImmediate(() => stop.abort())
      const ends = await Promise.allSettled(calls)
      console.log(...new Set(ends.map(({ reason }) => reason.code)))`
    const told = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])
    expect(told).toEqual({ stdout: 'ERR_SSO_TIMEOUT\n', stderr: '' })
  })

  it('leave nothing on it once they are over', async () => {
    const stop = new AbortController()
    const listeners = (): number => getEventListeners(stop.signal, 'abort').length
    const world = bench()
    const tokens = world.process()
    await tokens.save(account, world.tokens({ expires_at: 0 }))
    const waiting = tokens.getAccessToken(account, { signal: stop.signal })
    expect(listeners()).toBe(1)
    expect([await waiting, listeners()]).toEqual(['a1', 0])
    const heard: string[] = []
    const waits = ['first', 'second'].map((name) => onAbort(stop.signal, () => heard.push(name)))
    expect(listeners()).toBe(2)
    for (const end of [...waits, ...waits]) end()
    expect(listeners()).toBe(0)
    onAbort(stop.signal, () => heard.push('third'))
    stop.abort()
    expect({ heard, left: listeners() }).toEqual({ heard: ['third'], left: 0 })
    onAbort(stop.signal, () => heard.push('too late'))
    expect(heard).toEqual(['third', 'too late'])
  })
})
