/** The tracing channel `owner-sso:refresh`: who listens hears of each request, and never of a token. */
import { tracingChannel } from 'node:diagnostics_channel'
import { inspect } from 'node:util'
import { describe, expect, it } from '@jest/globals'
import { TokenRejectedError } from '../../src/index.ts'
import { account, signedIn } from './harness.ts'

describe('owner-sso:refresh', () => {
  it('tells of the beginning, the end and the failure of each request', async () => {
    const { world, tokens } = await signedIn(0, { minRefreshInterval: 0 })
    const heard: [string, object][] = []
    const hear = (name: string) => (message: object) => heard.push([name, { ...message }])
    const subscribers = {
      start: hear('start'),
      end: hear('end'),
      asyncStart: hear('asyncStart'),
      asyncEnd: hear('asyncEnd'),
      error: hear('error'),
    }
    const channel = tracingChannel('owner-sso:refresh')
    channel.subscribe(subscribers)
    try {
      await tokens.refresh(account)
      const rejection = new TokenRejectedError('invalid_client')
      world.answer = async () => {
        throw rejection
      }
      await expect(tokens.refresh(account)).rejects.toBe(rejection)
    } finally {
      channel.unsubscribe(subscribers)
    }
    const message = { account, auth_url: 'http://127.0.0.1:9', reason: 'asked', replay: false }
    const order = 'start end asyncStart asyncEnd start end error asyncStart asyncEnd'
    expect(heard.map(([name]) => name).join(' ')).toBe(order)
    expect(heard[3]?.[1]).toEqual({ ...message, result: 'tokens' })
    expect(heard.at(-1)?.[1]).toMatchObject({ ...message, error: { code: 'ERR_SSO_TOKEN_REJECTED' } })
    expect(inspect(heard, { depth: 9 })).not.toMatch(/'[ar][01]'/u)
    expect(world.sent).toEqual(['r0', 'r1'])
  })
})
