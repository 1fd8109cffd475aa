/** Each limit at it and one beyond it: options, times, and what stands in the store. */
import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { notebook, ReauthenticationRequiredError, SignedOutError, StoreError } from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { accountTokens } from '../src/account-tokens.ts'
import { accountAlerts } from '../src/alerts/account-alerts.ts'
import type { Alert } from '../src/alerts/alert.ts'
import { commandAlert } from '../src/alerts/command.ts'
import { auditTo } from '../src/audit.ts'
import { type KeptClient, shownClient } from '../src/clients/client.ts'
import { clientUses } from '../src/clients/uses.ts'
import { tokenRequestFields } from '../src/http/token-request.ts'
import { statusPageCode, statusPageTopic, takeCode } from '../src/status-page/entry-code.ts'
import { failuresOf } from '../src/status-page/failures.ts'
import { sharedSignIns } from '../src/status-page/shared-sign-ins.ts'
import { type Outcome, sharedSubmissions } from '../src/status-page/shared-submissions.ts'
import { sharedTries } from '../src/status-page/shared-tries.ts'
import { isEqual, visitorKey } from '../src/status-page/visitor.ts'
import { waitingSignIns } from '../src/status-page/waiting-sign-ins.ts'
import { clientListNotes, parseClientList } from '../src/clients/client-list.ts'
import { fresh } from '../src/notes/fresh.ts'
import { storeNotes } from '../src/notes/shared-notes.ts'
import { parseBrokerOptions, type TokenBrokerOptions } from '../src/options.ts'

describe('the options of tokenBroker', () => {
  const given = { tokens: { getTokens: () => undefined }, clients: { find: () => undefined } }
  const parsed = (more: object) => parseBrokerOptions({ ...given, ...more } as unknown as TokenBrokerOptions)

  it('have the defaults that the README tells', () => {
    expect(parsed({})).toMatchObject({
      rotation: { rotates: false, grace: 60 },
      hosts: new Set(),
      limits: { callsPerMinute: 600, wrongKeysPerMinute: 20, waiting: 1024 },
    })
    expect(parsed({ rotation: 'rotate', rotationGrace: 0, hosts: ['Home.Example-1'] })).toMatchObject({
      rotation: { rotates: true, grace: 0 },
      hosts: new Set(['home.example-1']),
    })
  })

  it.each<[object]>([
    [{ unknown: 1 }],
    [{ tokens: {} }],
    [{ clients: {} }],
    [{ rotation: 'sometimes' }],
    [{ rotationGrace: -1 }],
    [{ rotationGrace: Infinity }],
    [{ hosts: 'home.example' }],
    [{ hosts: [' home.example'] }],
    [{ hosts: ['home.example:80'] }],
    [{ hosts: [1] }],
    [{ audit: 'yes' }],
    [{ onProblem: 1 }],
    [{ limits: { callsPerMinute: 0 } }],
    [{ limits: { wrongKeysPerMinute: 1.5 } }],
    [{ limits: { waiting: '1' } }],
  ])('are not %j', (wrong) => {
    const [[name, value] = ['']] = Object.entries(wrong)
    const [limit] = name === 'limits' ? Object.keys(Object(value)) : []
    expect(() => parsed(wrong)).toThrow(TypeError)
    expect(() => parsed(wrong)).toThrow(limit === undefined ? name : `limits.${limit} must`)
  })
})

describe('time', () => {
  const now = 1_790_000_000
  beforeEach(() => void jest.useFakeTimers({ now: now * 1000, doNotFake: ['nextTick'] }))
  afterEach(() => {
    jest.useRealTimers()
    jest.restoreAllMocks()
  })

  it('of a body is ten seconds', async () => {
    const request = Object.assign(new PassThrough(), { headers: { 'content-type': 'application/json' } })
    const fields = tokenRequestFields(request as unknown as IncomingMessage)
    const outcome = jest.fn()
    fields.catch(outcome)
    request.write('{')
    await jest.advanceTimersByTimeAsync(9990)
    expect(outcome).not.toHaveBeenCalled()
    await jest.advanceTimersByTimeAsync(100)
    expect(outcome).toHaveBeenCalledWith(expect.objectContaining({ code: 'ERR_BROKER_SLOW_BODY' }))
  })

  it('of a store that is to tell how an account stands is half a second', async () => {
    const tokens = { status: () => new Promise<never>(() => undefined), getTokens: () => Promise.resolve('current') }
    const outcome = jest.fn()
    void accountTokens(tokens as never, undefined)('ann').then(outcome)
    await jest.advanceTimersByTimeAsync(490)
    expect(outcome).not.toHaveBeenCalled()
    await jest.advanceTimersByTimeAsync(100)
    expect(outcome).toHaveBeenCalledWith('current')
  })

  it('between two writes of what clients did is a minute', async () => {
    const notes = storeNotes(memoryTokenStore(), 'uses')
    const uses = clientUses(notes, async () => (name) => name === 'a')
    const good = { calls: 1, last_used_at: now, last_address: '192.0.2.9' }
    const odd = [null, 'x', {}, { ...good, calls: '1' }, { ...good, last_used_at: null }, { ...good, last_address: 1 }]
    const before = Object.fromEntries([good, ...odd].map((use, index) => [`n${index}`, use]))
    await notes.change(() => before)
    expect([...(await uses.read())]).toEqual([['n0', good]])
    jest.setSystemTime((now + 0.9) * 1000)
    for (const address of ['192.0.2.1', '192.0.2.2']) uses.note('a', address)
    uses.note('gone', '192.0.2.3')
    await jest.advanceTimersByTimeAsync(59_999)
    expect(await notes.read()).toEqual(before)
    await jest.advanceTimersByTimeAsync(1)
    expect(await notes.read()).toEqual({ a: { calls: 2, last_used_at: now, last_address: '192.0.2.2' } })
  })

  it('of a command is half a minute, and none is counted once it has ended', async () => {
    jest.useRealTimers()
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'clearImmediate'] })
    const alert = { id: 'a', type: 'sign-in.needed', account: 'ann', at: now } as const
    await commandAlert({ command: ['true'] }).tell(alert)
    expect(jest.getTimerCount()).toBe(0)
    const outcome = commandAlert({ command: ['sleep', '60'] })
      .tell(alert)
      .catch((error: Error) => error.message)
    await jest.advanceTimersByTimeAsync(30_000)
    expect(await outcome).toBe('The command did not end within 30000 ms.')
  })

  it('of accounts is looked at once for all who notice at the same time, and not at all for what is settled', async () => {
    const looks: string[] = []
    const status = async (name: string) => {
      looks.push(name)
      if (name === 'bob') throw new Error('down')
      return { state: 'reauthentication-required' }
    }
    const tokens = { status, accounts: () => [], on: () => () => undefined }
    const failures: unknown[] = []
    const reasons: unknown[] = []
    const tell = async ({ account, reason }: Alert): Promise<void> => {
      if (account === 'eve') throw new Error('nobody is there')
      reasons.push(reason)
    }
    const alerts = accountAlerts({
      tokens: tokens as never,
      store: memoryTokenStore(),
      channels: [{ name: 'mqtt', tell }],
      onFailure: (failure) => failures.push(failure),
    })
    for (let n = 0; n < 3; n += 1) for (const name of ['ann', 'bob', 'eve']) alerts.signInNeeded(name)
    await jest.advanceTimersByTimeAsync(0)
    expect(looks).toEqual(['ann', 'bob', 'eve'])
    expect(reasons).toEqual([undefined])
    alerts.signInNeeded('ann')
    await jest.advanceTimersByTimeAsync(0)
    expect(looks).toEqual(['ann', 'bob', 'eve'])
    alerts.works('ann')
    await alerts.close()
    expect(looks).toEqual(['ann', 'bob', 'eve', 'ann'])
    expect(failures).toEqual([
      { error: new Error('down'), account: 'bob' },
      { error: new Error('nobody is there'), channel: 'mqtt', account: 'eve' },
    ])
    expect(jest.getTimerCount()).toBe(0)
  })

  it('of an entry of the log is in whole seconds, and a log that fails is a warning', async () => {
    const warn = jest.spyOn(process, 'emitWarning').mockReturnValue(undefined)
    const noted: unknown[] = []
    jest.setSystemTime((now + 0.9) * 1000)
    const entry = { event: 'token', by: 'get', address: '192.0.2.1' } as const
    auditTo((each) => void noted.push(each))(entry)
    expect(noted).toEqual([{ ...entry, at: now }])
    auditTo(() => Promise.reject(new Error('full')) as never)(entry)
    await jest.advanceTimersByTimeAsync(0)
    expect(warn.mock.calls).toEqual([['audit failed.', expect.objectContaining({ type: 'OwnerSsoWarning' })]])
  })

  it('between two looks is half a minute, and an alert that fails is told again after 30 s, 2 min, 10 min and an hour', async () => {
    let state = 'valid'
    const tokens = { status: async () => ({ state }), accounts: () => ['ann'], on: () => () => undefined }
    const told: number[] = []
    const tell = (): Promise<never> => {
      told.push(Date.now() / 1000 - now)
      return Promise.reject(new Error('nobody is there'))
    }
    const channels = [{ name: 'mqtt', tell }]
    const alerts = accountAlerts({ tokens: tokens as never, store: memoryTokenStore(), channels })
    await jest.advanceTimersByTimeAsync(1000)
    state = 'reauthentication-required'
    await jest.advanceTimersByTimeAsync(28_999)
    expect(told).toEqual([])
    for (const again of [60, 180, 780, 4380]) {
      await jest.advanceTimersByTimeAsync((now + again - 1) * 1000 - Date.now())
      // A look of one who meets the account a second too early.
      alerts.signInNeeded('ann')
    }
    await jest.advanceTimersByTimeAsync(3 * 3600_000)
    expect(told).toEqual([30, 60, 180, 780, 4380])
    await alerts.close()
  })
})

describe('what stands in the store', () => {
  const now = 1_790_000_000
  beforeEach(() => void jest.useFakeTimers({ now: now * 1000 }))
  afterEach(() => void jest.useRealTimers())
  const at = (seconds: number) => jest.setSystemTime((now + seconds) * 1000)
  const odd = [undefined, null, 7, 'text', [], {}]
  /** An entry without one of its fields, or with one of another kind. */
  const brokenOnes = (entry: object): unknown[] => [
    ...odd.filter((each) => each !== undefined),
    ...Object.entries(entry).flatMap(([name, value]) => [
      { ...entry, [name]: typeof value === 'string' ? 7 : 'text' },
      { ...entry, [name]: null },
    ]),
  ]

  it('of failures is shown for a week, the newest ten, each counted, and what can’t be understood not at all', async () => {
    const store = memoryTokenStore()
    const listeners = new Map<string, (event: object) => void>()
    const stopped: string[] = []
    const on = (name: string, listener: (event: object) => void) => {
      listeners.set(name, listener)
      return () => void stopped.push(name)
    }
    const failures = failuresOf({ on } as never, store)
    const good = { at: now - 1, what: 'good', account: 'ann', count: 3 }
    const { account: _, ...bare } = { ...good, what: 'bare' }
    const notes = storeNotes(store, 'failures')
    for (const none of [{ failures: {} }, { failures: 'text' }, {}]) {
      await notes.change(() => none)
      expect(await failures.list()).toEqual([])
    }
    await notes.change(() => ({ failures: [bare, ...brokenOnes(good), good] }))
    expect(await failures.list()).toEqual([bare, good])
    for (const [name, listener] of listeners) listener({ account: 'bob', error: new Error(`${name} happened`) })
    at(1)
    failures.note('by hand')
    await jest.advanceTimersByTimeAsync(0)
    const listed = async () => (await failures.list()).map(({ what, account, count }) => [what, account, count])
    expect(await listed()).toEqual([
      ['by hand', undefined, 1],
      ['The owner has to sign in again.', 'bob', 1],
      ['The service’s firewall blocks this client for a while.', 'bob', 1],
      ['unsaved happened', 'bob', 1],
      ['The answer to a refresh is not known. It is asked for again.', 'bob', 1],
      ['refresh-failed happened', 'bob', 1],
      ['bare', undefined, 3],
      ['good', 'ann', 3],
    ])
    at(2)
    listeners.get('in-doubt')?.({ account: 'bob' })
    listeners.get('in-doubt')?.({ account: 'ann' })
    await jest.advanceTimersByTimeAsync(0)
    expect((await listed()).slice(0, 3)).toEqual([
      ['The answer to a refresh is not known. It is asked for again.', 'ann', 1],
      ['The answer to a refresh is not known. It is asked for again.', 'bob', 2],
      ['by hand', undefined, 1],
    ])
    for (const what of ['a', 'b', 'c', 'd']) {
      at(3)
      failures.note(what)
      await jest.advanceTimersByTimeAsync(0)
    }
    expect(await failures.list()).toHaveLength(10)
    expect(await failures.list()).not.toContainEqual(good)
    at(2 + 7 * 86_400 - 0.001)
    expect(await failures.list()).toHaveLength(6)
    at(2 + 7 * 86_400)
    expect(await listed()).toHaveLength(4)
    failures.close()
    expect(stopped).toEqual(['refresh-failed', 'in-doubt', 'unsaved', 'blocked', 'reauthentication-required'])
  })

  it('of failures is what this instance knows, where the store does not answer', async () => {
    const down = { ...memoryTokenStore(), read: () => Promise.reject(new Error('down')) }
    const failures = failuresOf({ on: () => () => undefined } as never, down)
    failures.note('once')
    failures.note('once')
    failures.note('once', 'ann')
    const listed = await failures.list()
    expect(listed.map(({ what, account, count }) => [what, account, count])).toEqual([
      ['once', 'ann', 1],
      ['once', undefined, 2],
    ])
  })

  it('of codes for the entrance opens once, in any spelling, for ten minutes', async () => {
    const store = memoryTokenStore()
    const notes = storeNotes(store, statusPageTopic)
    await notes.change(() => ({ key: 'k', codes: { old: now, odd: 'text', later: now + 1 } }))
    const code = await statusPageCode(store)
    expect(code).toMatch(/^[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}$/u)
    const kept = await notes.read()
    expect(kept).toEqual({
      key: 'k',
      codes: { later: now + 1, [Object.keys(Object(kept['codes']))[1] ?? '']: now + 600 },
    })
    expect(await takeCode(store, 'AAAA-AAAA')).toBe(false)
    expect(await notes.read()).toEqual(kept)
    at(599.9)
    expect(await takeCode(store, ` ${code.toLowerCase().replace('-', ' ')}\n`)).toBe(true)
    expect(await takeCode(store, code)).toBe(false)
    expect(await notes.read()).toEqual({ key: 'k', codes: {} })
    const late = await statusPageCode(store)
    at(599.9 + 600.1)
    expect(await takeCode(store, late)).toBe(false)
    for (const codes of [null, 7, 'text']) {
      await notes.change(() => ({ codes }))
      expect(await takeCode(store, late)).toBe(false)
    }
  })

  it('of tries is counted again where it can’t be understood', async () => {
    const store = memoryTokenStore()
    const tries = sharedTries(store, 'tries', { tries: 1, during: 900 })
    expect(await tries.count('ann')).toBe(0)
    const notes = storeNotes(store, 'tries')
    const written = await notes.read()
    const [name = ''] = Object.keys(written)
    const counted = written[name]
    expect(counted).toEqual({ count: 1, until: now + 900 })
    for (const broken of brokenOnes(Object(counted))) {
      await notes.change(() => ({ [name]: broken }))
      expect(await tries.count('ann')).toBe(0)
      expect(await notes.read()).toEqual({ [name]: counted })
    }
    await tries.count('bob')
    const before = await notes.read()
    await tries.forget('nobody')
    expect(await notes.read()).toEqual(before)
    await tries.forget('bob')
    expect(await notes.read()).toEqual({ [name]: counted })
  })

  it('of who signs cookies is made once, and 32 bytes', async () => {
    const store = memoryTokenStore()
    const notes = storeNotes(store, statusPageTopic)
    await notes.change(() => ({ codes: {}, key: 7 }))
    const key = await visitorKey(store)
    expect(key.byteLength).toBe(32)
    expect(await notes.read()).toEqual({ codes: {}, key: key.toString('base64url') })
    expect(await visitorKey(store)).toEqual(key)
    expect([isEqual('a', 'a'), isEqual('a', 'b'), isEqual('a', 'ab'), isEqual('', '')]).toEqual([
      true,
      false,
      false,
      true,
    ])
  })

  it.each([
    ['in memory', () => waitingSignIns()],
    ['shared', () => sharedSignIns(memoryTokenStore())],
  ])('of a sign-in that waits, %s, is found at its step, and taken once', async (_, open) => {
    const waiting = open()
    const signIn = { step: 'done', account: 'ann' } as const
    const other = { step: 'done', account: 'bob' } as const
    await waiting.set('v', signIn)
    await waiting.set('w', other)
    expect(await waiting.get('v', 'done')).toEqual(signIn)
    expect([await waiting.get('v', 'browser'), await waiting.take('v', 'passcode')]).toEqual([undefined, undefined])
    expect(await waiting.get('x', 'done')).toBeUndefined()
    expect([await waiting.take('v', 'done'), await waiting.take('v', 'done')]).toEqual([signIn, undefined])
    await waiting.delete('v')
    expect(await waiting.get('w', 'done')).toEqual(other)
    await waiting.delete('w')
    expect(await waiting.get('w', 'done')).toBeUndefined()
    await waiting.set('v', signIn)
    await waiting.set('v', other)
    expect(await waiting.get('v', 'done')).toEqual(other)
  })

  it('of a sign-in that waits is over after ten minutes', async () => {
    const waiting = sharedSignIns(memoryTokenStore())
    const signIn = { step: 'done', account: 'ann' } as const
    await waiting.set('v', signIn)
    at(599.999)
    expect(await waiting.get('v', 'done')).toEqual(signIn)
    at(600)
    expect(await waiting.get('v', 'done')).toBeUndefined()
  })

  it('of a password that is sent counts for a minute, of what came of it for five seconds, and nothing of what went wrong', async () => {
    const store = memoryTokenStore()
    const notes = notebook(store, 'submissions')
    const sendOnce = sharedSubmissions(store)
    const sent: string[] = []
    const send = async (): Promise<Outcome> => {
      sent.push('once')
      return { refusal: 'Not this one.' }
    }
    const until = async () =>
      Object.values(await notes.read()).map((claim) => (claim as { until: number }).until / 1000 - now)
    await sendOnce('v', 'form', async () => {
      expect(await until()).toEqual([60])
      return send()
    })
    expect(await until()).toEqual([5])
    at(4.999)
    expect(await sendOnce('v', 'form', send)).toEqual({ refusal: 'Not this one.' })
    expect(sent).toHaveLength(1)
    // Another visitor's, another form, and the same later on.
    for (const [visitor, form] of [
      ['w', 'form'],
      ['v', 'other'],
    ] as const)
      await sendOnce(visitor, form, send)
    at(5)
    await sendOnce('v', 'form', send)
    expect(sent).toHaveLength(4)

    at(100)
    const broken = new Error('broken')
    await expect(sendOnce('v', 'form', () => Promise.reject(broken))).rejects.toBe(broken)
    expect(await notes.read()).toEqual({})
    const [claim] = [{ until: (now + 200) * 1000, outcome: { refusal: 'Not this one.' } }]
    const [name = ''] = await sendOnce('v', 'form', send).then(async () => Object.keys(await notes.read()))
    const odds = [...brokenOnes(claim), ...brokenOnes(claim.outcome).map((outcome) => ({ ...claim, outcome }))]
    for (const each of [...odds, { ...claim, until: 0 }]) {
      sent.length = 0
      await notes.change(() => ({ [name]: each }))
      await sendOnce('v', 'form', send)
      expect([each, sent]).toEqual([each, ['once']])
    }
  })

  it('of a password that was sent is what came of it, also where the store fails then', async () => {
    const store = memoryTokenStore()
    let isDown = false
    const swap: typeof store.swap = async (...write) => {
      if (isDown) throw new StoreError('unavailable', 'The store is down.')
      return store.swap(...write)
    }
    const sendOnce = sharedSubmissions({ ...store, swap })
    const send = async (): Promise<Outcome> => {
      isDown = true
      return { location: '/status' }
    }
    expect(await sendOnce('v', 'form', send)).toEqual({ location: '/status' })
    await expect(sendOnce('v', 'other', send)).rejects.toMatchObject({ reason: 'unavailable' })
  })

  it('of sign-ins that wait has room for fifty, and for 200,000 characters: the oldest go', async () => {
    const store = memoryTokenStore()
    const notes = storeNotes(store, 'sign-ins')
    const waiting = sharedSignIns(store)
    const entry = (until: number, length = 1) => ({ until: now * 1000 + until, nonce: 'n', sealed: 'x'.repeat(length) })
    const names = async () => Object.keys(await notes.read()).map((name) => (name.length > 9 ? 'own' : name))
    await notes.change(() =>
      Object.fromEntries([
        ...Array.from({ length: 50 }, (_, index) => [`n${index}`, entry(index + 1)] as const),
        ...brokenOnes(entry(9)).map((broken, index) => [`b${index}`, broken] as const),
        ['over', entry(0)],
      ]),
    )
    await waiting.set('v', { step: 'done', account: 'ann' })
    expect(await names()).toEqual(['own', ...Array.from({ length: 49 }, (_, index) => `n${49 - index}`)])
    const own = Object.values(await notes.read())[0]
    const { sealed }: { sealed: string } = JSON.parse(JSON.stringify(own))
    await notes.change(() => ({ a: entry(3, 100_000), b: entry(2, 100_000 - sealed.length), c: entry(1) }))
    await waiting.set('v', { step: 'done', account: 'ann' })
    expect(await names()).toEqual(['own', 'a', 'b'])
    await notes.change(() => ({ a: entry(3, 100_000), b: entry(2, 100_001 - sealed.length) }))
    await waiting.set('v', { step: 'done', account: 'ann' })
    expect(await names()).toEqual(['own', 'a'])
  })

  it('of clients has what is known of each, and nothing of what is not', () => {
    const [one, two] = ['a', 'b'].map((digit) => ({ sha256: digit.repeat(64) }))
    const bare: KeptClient = { name: 'bare', accounts: ['ann'], scope: ['token'], keys: [one ?? { sha256: '' }] }
    const full: KeptClient = {
      ...bare,
      name: 'full',
      keys: [{ sha256: 'c'.repeat(64), expires_at: now }, { sha256: 'd'.repeat(64) }, two ?? { sha256: '' }],
      invited_at: now,
      expires_at: now + 1,
      limits: { callsPerMinute: 1 },
    }
    const written = clientListNotes([bare, full])
    expect(JSON.parse(JSON.stringify(written))).toStrictEqual({
      clients: [
        { name: 'bare', keySha256: 'a'.repeat(64), accounts: ['ann'], scope: ['token'] },
        {
          name: 'full',
          keySha256: 'b'.repeat(64),
          olderKeys: [
            { keySha256: 'c'.repeat(64), expiresAt: '2026-09-21T14:13:20.000Z' },
            { keySha256: 'd'.repeat(64) },
          ],
          accounts: ['ann'],
          scope: ['token'],
          invitedAt: '2026-09-21T14:13:20.000Z',
          expiresAt: '2026-09-21T14:13:21.000Z',
          limits: { callsPerMinute: 1 },
        },
      ],
    })
    expect(parseClientList(written, 'it').clients).toEqual([bare, full])
    const { keys: _keys, ...shown } = full
    expect(shownClient(full)).toStrictEqual(shown)
    expect(shownClient(bare)).toStrictEqual({ name: 'bare', accounts: ['ann'], scope: ['token'] })
    expect(() => parseClientList(clientListNotes([bare, { ...full, keys: bare.keys }]), 'The list')).toThrow(
      'The list: two clients have the same API key.',
    )
    expect(() => parseClientList({ clients: {} }, 'The list')).toThrow('The list: clients must be a list.')
    expect(() => parseClientList({ clients: [null] }, 'The list')).toThrow('The list: client 1: it has no name.')
    expect(parseClientList({}, 'it').clients).toEqual([])
  })
})

it.each<[string, object | Error, Error | undefined, readonly unknown[]]>([
  ['works', { state: 'valid' }, undefined, ['works', 'ann']],
  ['works, though the store can’t tell', new Error('down'), undefined, ['works', 'ann']],
  [
    'lives on, though its owner has to sign in',
    { state: 'reauthentication-required', reason: 'grant_revoked' },
    undefined,
    ['signInNeeded', 'ann', 'grant_revoked'],
  ],
  [
    'lives on, and nobody knows why its owner has to sign in',
    { state: 'reauthentication-required' },
    undefined,
    ['signInNeeded', 'ann', 'refresh_token_rejected'],
  ],
  ['is signed out', { state: 'signed-out' }, new SignedOutError(), ['signInNeeded', 'ann', 'signed-out']],
  [
    'is dead',
    { state: 'valid' },
    new ReauthenticationRequiredError('other_owner'),
    ['signInNeeded', 'ann', 'other_owner'],
  ],
  ['can’t be had now', { state: 'valid' }, new Error('network'), []],
])('of an account whose token %s, who is to know is told', async (_, status, failure, told) => {
  const calls: unknown[] = []
  const alerts = {
    works: (...args: unknown[]) => void calls.push('works', ...args),
    signInNeeded: (...args: unknown[]) => void calls.push('signInNeeded', ...args),
  }
  const current = { access_token: 'a', token_type: 'Bearer', expires_at: 1 }
  const tokens = {
    status: () => (status instanceof Error ? Promise.reject(status) : Promise.resolve(status)),
    getTokens: () => (failure === undefined ? Promise.resolve(current) : Promise.reject(failure)),
  }
  for (const listener of [alerts, undefined]) {
    const outcome = await accountTokens(tokens as never, listener)('ann').catch((error: unknown) => error)
    expect(outcome).toBe(failure ?? current)
  }
  expect(calls).toEqual(told)
})

it('of many who ask, none gets what was read before they asked, and those who ask meanwhile share one read', async () => {
  const reads: { key: string; end: (value: string) => void; fail: (error: Error) => void }[] = []
  const ask = fresh((key: string) => new Promise<string>((end, fail) => void reads.push({ key, end, fail })))
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const first = ask('a')
  const [second, third, other] = [ask('a'), ask('a'), ask('b')]
  expect(reads.map(({ key }) => key)).toEqual(['a', 'b'])
  reads[0]?.end('one')
  expect(await first).toBe('one')
  await turn()
  expect(reads.map(({ key }) => key)).toEqual(['a', 'b', 'a'])
  // The second read has begun: whoever asks now was not there before it.
  const fourth = ask('a')
  reads[2]?.fail(new Error('down'))
  expect(await Promise.allSettled([second, third])).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
  await turn()
  reads[3]?.end('three')
  expect(await fourth).toBe('three')
  await turn()
  const fifth = ask('a')
  expect(reads).toHaveLength(5)
  reads[4]?.end('four')
  reads[1]?.end('other')
  expect([await fifth, await other]).toEqual(['four', 'other'])
})
