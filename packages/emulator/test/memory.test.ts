/** Whatever comes, the emulator remembers so much and no more: the oldest gives way. */
import { describe, expect, it } from '@jest/globals'
import { createAccessTokens } from '../src/service/access-tokens.ts'
import { demoAccounts } from '../src/options/account-options.ts'
import { createAccount } from '../src/service/accounts.ts'
import { createClock, type Clock } from '../src/service/clock.ts'
import { createCodes } from '../src/service/codes.ts'
import { createCounters } from '../src/service/counters.ts'
import { createFactor } from '../src/service/factors.ts'
import { createFaults } from '../src/faults/faults.ts'
import { createFirewall } from '../src/service/firewall.ts'
import { createInstances } from '../src/service/instances.ts'
import { createFlows } from '../src/journal/flows.ts'
import { createRawExchanges } from '../src/journal/raw-exchanges.ts'
import { parseEmulatorOptions } from '../src/options/parse-options.ts'
import { createRefreshTokens } from '../src/service/refresh-tokens.ts'
import { createSessions } from '../src/service/sessions.ts'
import { useEmulator } from '../src/jest.ts'
import { Client } from './client.ts'

const emulator = useEmulator({ firewall: false })
const settings = parseEmulatorOptions({ accessTokenFormat: 'opaque' })
const { home } = createInstances('http://127.0.0.1:1', 'http://localhost:1')
const request = { codeChallenge: 'c', redirectUri: 'r', state: 's' }
const [demo = { identity: 'x', credential: 'x' }] = demoAccounts
const account = createAccount(demo)

/** A clock that stands: nothing leaves by its age. */
function still(): Clock {
  const clock = createClock()
  clock.freeze()
  return clock
}

describe('the oldest give way', () => {
  it('among ten thousand sessions, and they end after a quarter of an hour', () => {
    const clock = still()
    const sessions = createSessions(clock, settings)
    const first = sessions.create(home, request)
    for (let count = 0; count < 10_000; count += 1) sessions.create(home, request)
    expect(sessions.find(first.id, home)).toBeUndefined()
    expect([...sessions.alive()]).toHaveLength(10_000)
    clock.advance(901)
    expect([...sessions.alive()]).toEqual([])
  })

  it('among ten thousand codes', () => {
    const clock = still()
    const codes = createCodes(clock, settings)
    const session = createSessions(clock, settings).create(home, request)
    const issue = (): string => codes.issue({ session, account, complete: true })
    const [first, second] = [issue(), issue()]
    for (let count = 0; count < 9_999; count += 1) issue()
    expect([codes.take(first), codes.take(second)?.session]).toEqual([undefined, session])
  })

  it('among access tokens, and among refresh tokens', async () => {
    const clock = still()
    const accessTokens = createAccessTokens(clock, settings, 20)
    const refreshTokens = createRefreshTokens({ clock, settings, counters: createCounters(), accessTokens, max: 30 })
    const minting = { tlsVersion: undefined, httpVersion: '1.1' }
    const issued = []
    for (let count = 0; count < 50; count += 1) issued.push(await refreshTokens.signIn(account, home))
    expect(issued.filter(({ access_token }) => accessTokens.find(access_token))).toEqual(issued.slice(30))
    expect([...refreshTokens.alive()]).toHaveLength(30)
    expect((await refreshTokens.refresh(issued[19]?.refresh_token ?? '', home, minting)).tokens).toBeUndefined()
    expect((await refreshTokens.refresh(issued[20]?.refresh_token ?? '', home, minting)).tokens).toBeDefined()
    clock.advance(28_801)
    expect([...accessTokens.alive()]).toEqual([])
  })
})

describe('what a client sends', () => {
  it('fills neither the firewall’s memory nor its keys', () => {
    const firewall = createFirewall(still(), parseEmulatorOptions())
    const client = { address: '127.0.0.1', tlsVersion: undefined }
    for (let count = 0; count < 10_050; count += 1) {
      firewall.blocks({ ...client, userAgent: `${count} ${'x'.repeat(2000)}` } as Parameters<typeof firewall.blocks>[0])
    }
    const clients = firewall.clients()
    expect(clients).toHaveLength(10_000)
    expect(clients[0]?.userAgent).toMatch(/^50 x{253}$/u)
  })

  it('can not fill the log with names', async () => {
    const client = new Client(emulator)
    const form = new URLSearchParams()
    for (let index = 0; index < 3000; index += 1) form.append(`name-${index}`, '1')
    for (let count = 0; count < 20; count += 1) {
      await client.send('/oauth2/v3/token', { method: 'POST', body: form })
      await client.json('/oauth2/v3/token', { ['y'.repeat(60_000)]: '1' })
    }
    expect(Object.keys(emulator.requests[0]?.body ?? {})).toHaveLength(100)
    expect(JSON.stringify(emulator.requests).length).toBeLessThan(100_000)
  })

  it('fills what is behind the masks to 32 million characters', () => {
    const raws = createRawExchanges()
    const body = 'x'.repeat(64 * 1024)
    const kept = { url: '/', headers: {}, contentType: 'application/x-www-form-urlencoded', body }
    for (let id = 1; id <= 600; id += 1) raws.keep(id, kept)
    const count = Array.from({ length: 600 }, (_, index) => raws.read(index + 1)).filter(Boolean).length
    expect(count).toBe(Math.floor((32 * 1024 ** 2) / (body.length + '/{}'.length)))
    expect(raws.read(600)).toBeDefined()
  })

  it('is told from other logins by 50,000 traces', () => {
    const flows = createFlows()
    const begin = (index: number): number | undefined =>
      flows.learn(undefined, {}, { access_token: `a${index}` })?.number
    const find = (index: number): number | undefined =>
      flows.of({ query: new URLSearchParams(), cookies: new Map(), fields: {}, bearer: `a${index}` })?.number
    for (let index = 1; index <= 50_010; index += 1) begin(index)
    expect([find(1), find(10), find(11), find(50_010)]).toEqual([undefined, undefined, 11, 50_010])
  })
})

describe('what tests order', () => {
  it('waits in a line of ten thousand at most', () => {
    const faults = createFaults(createCounters())
    for (let count = 0; count < 10_000; count += 1) faults.once('token', { status: 503 })
    expect(() => faults.once('token', { status: 503 })).toThrow(/Too many faults wait at token/u)
    faults.take('token')
    faults.once('token', { status: 503 })
    expect(faults.ordered('token').once).toHaveLength(10_000)
  })

  it('fails a hundred times at most', async () => {
    const faults = createFaults(createCounters())
    faults.always('token', () => {
      throw new Error('mine')
    })
    for (let count = 0; count < 150; count += 1) {
      await faults.take('token').transform?.({ status: 200, headers: {}, body: '' })
    }
    expect(faults.failures).toHaveLength(100)
  })

  it('and passcodes that were used are remembered as long as they could be used again', () => {
    const factor = createFactor({ name: 'Phone', totpSecret: 'JBSWY3DPEHPK3PXP' })
    const check = (now: number): string => factor.check(factor.passcode(now), now)
    for (let step = 0; step < 1000; step += 1) expect(check(1e9 + step * 30)).toBe('valid')
    expect(check(1e9 + 999 * 30)).toBe('replayed')
  })
})
