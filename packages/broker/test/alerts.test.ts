/** Who is told that an account has to sign in again: once each, whoever notices, and once more when it works again. */
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, describe, expect, it, jest } from '@jest/globals'
import { createSso, createTokenManager, notebook, type TokenManager, type TokenStore } from '@owner-sso/core'
import { useEmulator } from '@owner-sso/emulator/jest'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { Webhook } from 'standardwebhooks'
import {
  type AccountAlerts,
  accountAlerts,
  type AccountAlertsOptions,
  type Alert,
  type AlertChannel,
  type AlertFailure,
  webhookAlert,
} from '../src/index.ts'
import { startReceiver } from '../../../tests/support/webhook-receiver.ts'
import { until } from './until.ts'

const account = 'plain@example.com'
const credential = 'correct horse'
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const emulator = useEmulator()
const opened: { close: () => Promise<void> }[] = []

afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close()
})

/** One instance: its own token manager over the store. */
function instance(store: TokenStore): {
  tokens: TokenManager
  signIn: () => Promise<void>
  lose: () => Promise<void>
  /** Refreshes, and the owner API refuses what that brings. */
  refuse: () => Promise<void>
} {
  const sso = createSso({ authUrl: emulator.authUrl })
  const tokens = createTokenManager({ issuer: sso, store, minRefreshInterval: 0 })
  return {
    tokens,
    signIn: async () => tokens.save(account, await sso.login({ identity: account, credential })),
    lose: async () => {
      emulator.expireRefreshTokens(account)
      await expect(tokens.refresh(account)).rejects.toMatchObject({ code: 'ERR_SSO_REAUTHENTICATION_REQUIRED' })
    },
    refuse: async () => {
      await tokens.refresh(account)
      await tokens.invalidate(account, await tokens.getAccessToken(account))
    },
  }
}

function watch(
  options: Omit<AccountAlertsOptions, 'every' | 'retryAfter'> & Partial<AccountAlertsOptions>,
): AccountAlerts {
  const alerts = accountAlerts({ every: 0.05, retryAfter: [0, 0], ...options })
  opened.push(alerts)
  return alerts
}

function listener(
  name = 'listener',
  tell: AlertChannel['tell'] = async () => undefined,
): AlertChannel & { told: Alert[] } {
  const told: Alert[] = []
  return {
    name,
    told,
    tell: async (alert) => {
      await tell(alert)
      told.push(alert)
    },
  }
}

const types = ({ told }: { told: readonly Alert[] }): string[] => told.map(({ type }) => type)

describe('an account that has to sign in again', () => {
  it('is told once by each channel, whichever of three instances notices, and once more when it works again', async () => {
    const store = memoryTokenStore()
    const channels = [listener('one'), listener('two')]
    const instances = [instance(store), instance(store), instance(store)]
    const [first, second] = instances
    await first?.signIn()
    const watches = instances.map(({ tokens }) =>
      watch({ tokens, store, channels, signInUrl: 'http://127.0.0.1:8700/status' }),
    )
    await first?.lose()
    for (const alerts of watches) alerts.signInNeeded(account)
    await until(() => channels.every(({ told }) => told.length > 0))
    await second?.signIn()
    for (const alerts of watches) alerts.works(account)
    await until(() => channels.every(({ told }) => told.length > 1))
    // A restart of all of them.
    for (const each of watches) await each.close()
    const after = watch({ tokens: instance(store).tokens, store, channels })
    after.works(account)
    await after.close()
    for (const channel of channels) {
      expect(types(channel)).toEqual(['sign-in.needed', 'sign-in.restored'])
      expect(channel.told[0]).toMatchObject({
        account,
        reason: 'refresh_token_rejected',
        signInUrl: 'http://127.0.0.1:8700/status',
      })
    }
    expect(channels[0]?.told.map(({ id }) => id)).toEqual(channels[1]?.told.map(({ id }) => id))
  }, 30_000)

  it('is told of an account that a client uses and nobody signed in, and not of one that always worked', async () => {
    const store = memoryTokenStore()
    const { tokens, signIn } = instance(store)
    const channel = listener()
    await signIn()
    const alerts = watch({ tokens, store, channels: [channel], accounts: async () => [account, 'nobody@example.com'] })
    alerts.works(account)
    await until(() => channel.told.length > 0)
    await alerts.close()
    expect(channel.told).toMatchObject([
      { type: 'sign-in.needed', account: 'nobody@example.com', reason: 'signed-out' },
    ])
  })

  it('is told again later, with the same id, where a channel fails, and is given up after its last try', async () => {
    const store = memoryTokenStore()
    const { tokens } = instance(store)
    const tried: string[] = []
    const failing = listener('failing', async ({ id }) => {
      tried.push(id)
      throw new Error('no')
    })
    const shaky = listener('shaky', async () => {
      if (tried.length < 2) throw new Error('not yet')
    })
    const failures: AlertFailure[] = []
    const alerts = watch({
      tokens,
      store,
      channels: [failing, shaky],
      accounts: async () => [account],
      onFailure: (failure) => failures.push(failure),
    })
    await until(() => tried.length === 3 && shaky.told.length === 1)
    // Two more looks at all accounts.
    await pause(200)
    await alerts.close()
    expect([tried.length, new Set(tried).size, shaky.told.length]).toEqual([3, 1, 1])
    expect(failures.filter(({ channel }) => channel === 'failing')).toHaveLength(3)
  })

  it('is tried again after 30 seconds, 2 minutes, 10 minutes and an hour, and then given up', async () => {
    jest.useFakeTimers()
    try {
      const store = memoryTokenStore()
      const tried: number[] = []
      const began = Date.now()
      const tell = (): Promise<never> => {
        tried.push((Date.now() - began) / 1000)
        return Promise.reject(new Error('nobody is there'))
      }
      const { tokens } = instance(store)
      const channels = [{ name: 'failing', tell }]
      const alerts = accountAlerts({ tokens, store, channels, accounts: async () => [account] })
      await jest.advanceTimersByTimeAsync(3 * 3_600_000)
      expect(tried).toEqual([0, 30, 150, 750, 4350])
      await alerts.close()
    } finally {
      jest.useRealTimers()
    }
  })

  it('is told by another instance where the first one died, and by no other while the first may still be sending', async () => {
    const store = memoryTokenStore()
    const { tokens } = instance(store)
    const dead = listener('told', () => new Promise(() => undefined))
    // Its process is killed while it tells: it never concludes.
    accountAlerts({ tokens, store, channels: [dead], accounts: async () => [account], every: 3600 })
    const claims = () => notebook(store, 'alerts').read()
    await until(async () => JSON.stringify(await claims()).includes('"next"'))
    const channel = listener('told')
    const alerts = watch({ tokens, store, channels: [channel], accounts: async () => [account] })
    await pause(200)
    expect(channel.told).toEqual([])
    const before: Record<string, unknown> = JSON.parse(
      JSON.stringify(await claims()).replace(/"next":\d+/u, '"next":1'),
    )
    await notebook(store, 'alerts').change(() => before)
    await until(() => channel.told.length === 1)
    await alerts.close()
    expect(before).toMatchObject({ [account]: { id: channel.told[0]?.id } })
  })

  it('goes on after a store that was down, and with notes in the store that are not its own', async () => {
    const store = memoryTokenStore()
    const { tokens } = instance(store)
    await notebook(store, 'alerts').change(() => ({ [account]: 7, 'nobody@example.com': { id: 1, told: null } }))
    let isDown = true
    const shaky: TokenStore = {
      ...store,
      read: (name) => (isDown ? Promise.reject(new Error('down')) : store.read(name)),
    }
    const channel = listener()
    const failures: AlertFailure[] = []
    watch({
      tokens,
      store: shaky,
      channels: [channel],
      accounts: async () => [account],
      onFailure: (failure) => failures.push(failure),
    })
    await until(() => failures.length > 1)
    await store.swap('damaged@example.com', 0, JSON.parse('{}'), 'of something else')
    isDown = false
    await until(() => channel.told.some((alert) => alert.account === account))
    expect(failures[0]?.error).toMatchObject({ code: 'ERR_SSO_STORE' })
  })
})

describe('an account that nobody refreshes', () => {
  afterEach(() => void jest.restoreAllMocks())

  it('is told by an instance that leaves this to others, once, and that it works when somebody has', async () => {
    const store = memoryTokenStore()
    const home = instance(store)
    await home.signIn()
    const server = createTokenManager({ issuer: createSso({ authUrl: emulator.authUrl }), store, refresh: 'elsewhere' })
    const channel = listener()
    let ahead = 0
    const { now } = Date
    jest.spyOn(Date, 'now').mockImplementation(() => now() + ahead * 3_600_000)
    const watches = [home.tokens, server].map((tokens) => watch({ tokens, store, channels: [channel] }))
    ahead = 7
    await until(() => channel.told.length > 0)
    // To the one at home the account is well: that takes nothing back.
    await pause(300)
    expect(channel.told).toMatchObject([
      {
        type: 'refresh.overdue',
        account,
        advice: expect.stringMatching(
          /^Nobody has refreshed since [-\d ]*\d\d:\d\d UTC\. Works until [-\d ]*\d\d:\d\d UTC\. Look at the process that refreshes\.$/u,
        ),
      },
    ])
    ahead = 7.5
    await home.tokens.refresh(account)
    await server.getAccessToken(account)
    await until(() => channel.told.length > 1)
    for (const each of watches) await each.close()
    expect(types(channel)).toEqual(['refresh.overdue', 'sign-in.restored'])
  })
})

describe('an application that the service does not know', () => {
  const accounts = [account, 'mfa@example.com', 'other@example.com']
  const known = useEmulator({
    service: 'registered',
    clientSecret: 'old',
    accounts: accounts.map((identity) => ({ identity, credential })),
  })

  it('is one alert by each channel for all accounts and instances, and one when it is known again', async () => {
    let clientSecret = 'old'
    let looks = 0
    const memory = memoryTokenStore()
    const store: TokenStore = {
      ...memory,
      read: (name) => {
        looks += 1
        return memory.read(name)
      },
    }
    const { authUrl, tokenUrl, ownerApiUrl: audience } = known
    const redirectUri = 'https://app.example.com/callback'
    const client = { clientId: 'emulated-application', clientSecret: () => clientSecret, audience, redirectUri }
    const sso = createSso({ authUrl, tokenUrl, service: 'registered', ...client })
    const instances = [1, 2].map(() => createTokenManager({ issuer: sso, store, minRefreshInterval: 0 }))
    const channels = [listener('one'), listener('two')]
    for (const tokens of instances) watch({ tokens, store, channels })
    for (const name of accounts) {
      const { refresh_token } = await known.issueTokens(name)
      await instances[0]?.save(name, { refresh_token })
      await instances[0]?.refresh(name)
    }
    known.change({ clientSecret: 'new' })
    const refreshAll = (): Promise<unknown> =>
      Promise.allSettled(instances.flatMap((tokens) => accounts.map((name) => tokens.refresh(name))))
    await refreshAll()
    await until(() => channels.every(({ told }) => told.length > 0))
    await refreshAll()
    clientSecret = 'new'
    const now = Date.now()
    const later = jest.spyOn(Date, 'now').mockImplementation(() => now + 80_000)
    await refreshAll()
    await until(() => channels.every(({ told }) => told.length > 1))
    // And again, where one instance meets it and another sees the end.
    await instances[1]?.refresh(account)
    known.change({ clientSecret: 'third' })
    await Promise.allSettled(accounts.map(async (name) => instances[0]?.refresh(name)))
    await until(() => channels.every(({ told }) => told.length > 2))
    // To an instance that was well before, it is as the other one has noted it.
    const before = looks
    await until(() => looks > before + 20)
    expect(channels.map(({ told }) => told.length)).toEqual([3, 3])
    clientSecret = 'third'
    later.mockImplementation(() => now + 160_000)
    await instances[1]?.refresh(account)
    await until(() => channels.every(({ told }) => told.length > 3))
    for (const channel of channels) {
      const once = ['client.rejected', 'client.restored']
      expect(types(channel)).toEqual([...once, ...once])
      expect(channel.told.map((alert) => alert.account)).toEqual(channel.told.map(() => 'owner-sso:client'))
    }
    for (const name of accounts) expect(await instances[0]?.status(name)).toMatchObject({ state: 'valid' })
    later.mockRestore()
  }, 30_000)

  it('is told of in a sentence that names no account', async () => {
    const receiver = await startReceiver()
    opened.push(receiver)
    for (const type of ['client.rejected', 'client.restored'] as const)
      await webhookAlert({ url: receiver.url, secret }).tell({
        id: type,
        type,
        account: 'owner-sso:client',
        at: 0,
      })
    const messages = receiver.received.map(({ body }) => JSON.parse(body))
    expect(messages.map(({ type, data }) => [type, Object.keys(data)])).toEqual([
      ['client.rejected', ['message']],
      ['client.restored', ['message']],
    ])
    expect(messages[0].data.message).toMatch(/does not know the application, or not by its secret/u)
  })
})

describe('an account whose refreshed tokens are refused', () => {
  it('is told once, whichever instance notices, with the time until which it works, and that it works after a sign-in', async () => {
    const store = memoryTokenStore()
    const channels = [listener('one'), listener('two')]
    const instances = [instance(store), instance(store)]
    const [first, second] = instances
    await first?.signIn()
    const watches = instances.map(({ tokens }) => watch({ tokens, store, channels, every: 3600 }))
    await first?.refuse()
    await until(() => channels.every(({ told }) => told.length > 0))
    for (const alerts of watches) alerts.works(account)
    for (const each of watches) await each.close()
    const restarted = watch({ tokens: second!.tokens, store, channels })
    await second?.signIn()
    await until(() => channels.every(({ told }) => told.length > 1))
    await restarted.close()
    for (const channel of channels) {
      expect(types(channel)).toEqual(['sign-in.due', 'sign-in.restored'])
      const advice = expect.stringMatching(
        /^Refreshed .* owner API\. Works until [-\d ]*\d\d:\d\d UTC; sign in again before\.$/u,
      )
      expect(channel.told[0]).toMatchObject({ account, advice })
    }
  })

  it('is told again after a new sign-in, which they will be refused after as well', async () => {
    const store = memoryTokenStore()
    const { tokens, signIn, refuse } = instance(store)
    const channel = listener()
    const again = (): AccountAlerts => watch({ tokens, store, channels: [channel] })
    await signIn()
    for (const _ of [1, 2]) await refuse()
    const first = again()
    await until(() => channel.told.length === 1)
    await first.close()
    // Longer ago than this test takes.
    const notes = JSON.stringify(await notebook(store, 'alerts').read()).replace(/"at":\d+/u, '"at":1790000000')
    await notebook(store, 'alerts').change(() => JSON.parse(notes))
    await signIn()
    const second = again()
    await until(() => channel.told.length === 2)
    await second.close()
    const third = again()
    third.works(account)
    await third.close()
    expect(types(channel)).toEqual(['sign-in.due', 'sign-in.due'])
  })
})

const alert: Alert = {
  id: 'a-1',
  type: 'sign-in.needed',
  account,
  at: 1_790_000_000,
  reason: 'signed-out',
  signInUrl: 'http://127.0.0.1:8700/status',
}

describe('a webhook', () => {
  it('is signed as Standard Webhooks has it: their own library verifies it', async () => {
    const receiver = await startReceiver()
    opened.push(receiver)
    await webhookAlert({ url: receiver.url, secret }).tell(alert)
    const [{ headers, body } = { headers: {}, body: '' }] = receiver.received
    const verified: unknown = new Webhook(secret).verify(body, headers as Record<string, string>)
    expect(verified).toEqual({
      id: 'a-1',
      type: 'sign-in.needed',
      timestamp: '2026-09-21T14:13:20.000Z',
      data: {
        account,
        message: `${account} has to sign in again. Until then, no program gets a token for it.`,
        reason: 'signed-out',
        sign_in_url: 'http://127.0.0.1:8700/status',
      },
    })
  })

  it('says that an account works again', async () => {
    const receiver = await startReceiver()
    opened.push(receiver)
    await webhookAlert({ url: receiver.url, secret }).tell({ id: 'a-2', type: 'sign-in.restored', account, at: 0 })
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toEqual({
      id: 'a-2',
      type: 'sign-in.restored',
      timestamp: '1970-01-01T00:00:00.000Z',
      data: { account, message: `${account} works again.` },
    })
  })

  it('says why a sign-in is due', async () => {
    const receiver = await startReceiver()
    opened.push(receiver)
    const advice = 'Refreshed tokens are refused by the owner API; sign in again.'
    await webhookAlert({ url: receiver.url, secret }).tell({ id: 'a-3', type: 'sign-in.due', account, at: 0, advice })
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
      type: 'sign-in.due',
      data: { account, message: `${account}: ${advice}` },
    })
  })

  it('has a secret of 24 to 64 bytes', () => {
    const channel = (bytes: number) => () =>
      webhookAlert({ url: 'https://a.example', secret: Buffer.alloc(bytes, 7).toString('base64') })
    for (const bytes of [24, 64]) expect(channel(bytes)().name).toBe('webhook')
    for (const bytes of [23, 65]) expect(channel(bytes)).toThrow('24 to 64 bytes')
  })

  it.each([
    ['an error', 500, {}],
    ['a redirect, which is not followed', 302, { location: '/elsewhere' }],
  ])('that is answered with %s counts as not delivered', async (_, status, answerHeaders) => {
    const receiver = await startReceiver(status, answerHeaders)
    opened.push(receiver)
    await expect(webhookAlert({ url: receiver.url, secret }).tell(alert)).rejects.toThrow(`answered with ${status}`)
    expect(receiver.received).toHaveLength(1)
  })

  it('that is not answered is given up in time', async () => {
    const receiver = await startReceiver('silence')
    opened.push(receiver)
    await expect(webhookAlert({ url: receiver.url, secret, timeout: 300 }).tell(alert)).rejects.toMatchObject({
      name: 'TimeoutError',
    })
  })

  it.each([
    ['http://example.com/hook', secret, 'https'],
    ['ftp://127.0.0.1/hook', secret, 'https'],
    ['https://ann:pass@example.com/hook', secret, 'user name'],
    ['https://example.com/hook', 'short', '24 to 64 bytes'],
    ['https://example.com/hook', '!'.repeat(44), '24 to 64 bytes'],
  ])('to %s with the secret %s is rejected', (url, key, problem) => {
    expect(() => webhookAlert({ url, secret: key })).toThrow(problem)
    expect(() => webhookAlert({ url, secret: key })).toThrow(TypeError)
  })
})
