/** A record that somebody else put into the store: told as an error of the store, whatever is wrong with it. */
import { describe, expect, it } from '@jest/globals'
import { checkedRecord, isRecord, isTokenSet } from '../../src/store/record-check.ts'
import type { TokenRecord } from '../../src/store/token-record.ts'
import { firewallRecordName } from '../../src/store/record-names.ts'
import { lineageOf } from '../../src/store/lineage.ts'
import { sealedTokenStore } from '../../src/store/sealed-token-store.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { account, bench } from '../refresh-protocol/harness.ts'

const world = bench()
const tokens = world.tokens()
const host = firewallRecordName(tokens.auth_url)
const holder = { pid: 1, started: '5', boot: 'b', pidNamespace: 'n' }
const held = {
  schema: 1,
  generation: 1,
  refreshes: 1,
  lineage: lineageOf(account, tokens.refresh_token),
  tokens,
  obtained_at: world.now() / 1000,
  lifetime: 1,
}
const signedIn = { ...held, state: 'signed-in', intent: { id: 'i', holder, replay: 0, at: 0, answerLost: true } }
const ended = { ...held, state: 'reauthentication-required', reason: 'rotated_token_lost' }
const signedOut = { schema: 1, state: 'signed-out', generation: 2 }
const firewall = { schema: 1, state: 'firewall', challenges: 1, noted_at: 0, wait: 60 }
const corrupt = { code: 'ERR_SSO_STORE', reason: 'corrupt' }

/** The value with one field after another replaced, at any depth, by what can't stand there. */
function* poisoned(value: object, path = ''): Generator<[where: string, changed: object]> {
  for (const [name, field] of Object.entries(value)) {
    for (const junk of [[], { toString: 1 }, true === field ? 'true' : true, -1.5, '']) {
      const isFine = typeof field === 'number' && typeof junk === 'number' && !counts.has(name)
      if (!isFine && !(junk === '' && mayBeEmpty.has(name)))
        yield [`${path}${name} ${JSON.stringify(junk)}`, { ...value, [name]: junk }]
    }
    if (typeof field !== 'object' || field === null) continue
    for (const [where, changed] of poisoned(field, `${path}${name}.`)) yield [where, { ...value, [name]: changed }]
  }
}
const counts = new Set(['schema', 'refreshes', 'replay', 'challenges'])
const mayBeEmpty = new Set(['started', 'boot', 'pidNamespace'])

async function expectTold(store: ReturnType<typeof mapStore>, where: string): Promise<void> {
  const manager = world.process({ store })
  const calls = {
    getAccessToken: () => manager.getAccessToken(account),
    refresh: () => manager.refresh(account),
    status: () => manager.status(account),
    invalidate: () => manager.invalidate(account, 'a0'),
    forget: () => manager.forget(account),
    save: () => manager.save(account, tokens),
  }
  for (const [name, call] of Object.entries(calls)) {
    const outcome: unknown = await call().then(
      () => 'taken',
      (error: unknown) => error,
    )
    expect({ where, name, outcome }).toMatchObject({ where, name, outcome: corrupt })
  }
}

describe('a record with one wrong field', () => {
  it.each([
    ['signed in', signedIn],
    ['to sign in again', ended],
    ['signed out', signedOut],
  ])('of somebody who is %s is an error of the store, and nothing else', async (_name, record) => {
    for (const [where, changed] of poisoned(record)) {
      const store = mapStore()
      store.put(account, { version: 1, record: changed as never })
      await expectTold(store, where)
      expect((await store.read(account))?.version).toBe(1)
    }
  })

  it.each([null, [], 7, 'signed-in', { state: 'constructor' }, { __proto__: signedOut }])(
    'or without any is one as well: %j',
    async (record) => {
      const store = mapStore()
      store.put(account, { version: 1, record: record as never })
      await expectTold(store, JSON.stringify(record))
      store.read = async () => ({ version: 1, record: record as never })
      await expectTold(store, `${JSON.stringify(record)}, not from JSON`)
    },
  )

  it.each([0, 1.5, -1, null, '1'])('or at a version that is none: %j', async (version) => {
    const store = mapStore()
    store.read = async () => ({ version: version as never, record: signedOut as never })
    await expectTold(store, String(version))
  })

  const firewall0 = { state: 'firewall', challenges: 0 }

  it('of a firewall is begun anew: it holds up neither refreshes nor sign-ins', async () => {
    for (const [where, changed] of poisoned(firewall)) {
      const store = mapStore()
      const manager = world.process({ store })
      store.put(host, { version: 1, record: changed as never })
      await manager.save(account, world.tokens({ expires_at: 0 }))
      expect({ where, call: await manager.getAccessToken(account) }).toEqual({ where, call: expect.any(String) })
      expect({ where, stored: await store.read(host) }).toMatchObject({
        where,
        stored: { version: 2, record: firewall0 },
      })
    }
  })

  it('that is sealed is an error of the store, with the key and without', async () => {
    const beneath = mapStore()
    const store = sealedTokenStore(beneath, { keys: [Buffer.alloc(32, 1)] })
    await world.process({ store }).save(account, tokens)
    const sealed = await beneath.read(account)
    for (const [where, changed] of poisoned(sealed?.record ?? {})) {
      beneath.put(account, { version: 1, record: changed as never })
      await expectTold(beneath, where)
      await expect(store.read(account)).rejects.toMatchObject({
        code: 'ERR_SSO_STORE',
        reason: expect.stringMatching(/^(?:corrupt|wrong-key)$/u),
      })
    }
    for (const inside of ['null', '[]', '7', '{"schema":1}']) {
      await store.swap(account, 1, JSON.parse(inside), inside)
      await expect(world.process({ store }).status(account)).rejects.toMatchObject(corrupt)
      beneath.clear()
      await store.swap(account, 0, signedOut as never, 'again')
    }
  })
})

describe('each kind of record', () => {
  const whole = {
    ...signedIn,
    session: 's',
    replaces: ['r'],
    intent: { ...signedIn.intent, holder: { ...holder, timeNamespace: 't' }, restored: true },
    refusals: { inARow: 1, thisOne: true },
    rejections: { inARow: 1, at: 0.5, description: 'd' },
    failure: { code: 'ERR_SSO_TIMEOUT', at: 0.5 },
    tokens: { ...tokens, id_token: 'i', expires_in: 0.5, state: 's' },
  }
  const { intent: _intent, rejections: _rejections, ...heldOn } = whole
  const kinds: Readonly<Record<TokenRecord['state'], object>> = {
    'signed-in': whole,
    'reauthentication-required': { ...heldOn, reason: 'no_refresh_token', description: 'd' },
    'signed-out': { schema: 1, generation: 0.5, session: 's', replaces: ['r'], signed_out_at: 0.5 },
    firewall,
    'refresh-budget': { schema: 1, window: 1, used: 0, free: [1, 1] },
    tries: { schema: 1, sign_ins: { ann: [1, 0.5] } },
    spooled: { schema: 1, result: { version: 1, derivedFrom: whole, next: whole } },
    'refresh-tokens': { schema: 1, saved: { lineage: ['ann', 's'] } },
    notes: { schema: 1, notes: {} },
    'roll-call': { schema: 1, call: 'c' },
    keeper: { schema: 1, holder, signs: 1, swept_at: 0.5 },
    sealed: { schema: 1, key: 'k', nonce: 'n', sealed: 's' },
  }
  const empty = new Set([...mayBeEmpty, 'timeNamespace', 'description', 'id_token', 'state', 'access_token'])
  const anyObject = new Set(['notes', 'result', 'intent', 'sign_ins', 'saved'])
  const whole1 = new Set([...counts, 'inARow', 'window', 'signs', 'version'])

  it.each(Object.entries(kinds))('%s is one as a whole, and none with one wrong field', (state, fields) => {
    const isOne = (record: object): boolean =>
      isRecord({ ...record, state } as unknown as TokenRecord, state as TokenRecord['state'])
    expect(isOne(fields)).toBe(true)
    expect(isOne({})).toBe(false)
    for (const [where, changed] of poisoned(fields)) {
      const [, name = '', junk] = /(\w+) (.*)$/u.exec(where) ?? []
      if (where.startsWith('state ') || where.endsWith('replaces []')) continue
      const isNumber = junk === '-1.5' && !whole1.has(name)
      if ((junk === '""' && empty.has(name)) || isNumber || (anyObject.has(name) && junk !== '""')) continue
      expect({ where, isOne: isOne(changed) }).toEqual({ where, isOne: false })
    }
  })
})

describe('what stands inside a record', () => {
  const isOne = (state: TokenRecord['state'], fields: object): boolean =>
    isRecord({ schema: 1, state, ...fields } as unknown as TokenRecord, state)

  it.each<[TokenRecord['state'], object, boolean]>([
    ['refresh-budget', { window: 0, used: 0, free: [0, 0] }, true],
    ['refresh-budget', { window: 0, used: 0, free: [0] }, false],
    ['refresh-budget', { window: 0, used: 0, free: [0, -1] }, false],
    ['refresh-budget', { window: 0, used: 0, free: [-1, 0] }, false],
    ['refresh-budget', { window: 0, used: 0, free: [0.5, 0] }, false],
    ['refresh-budget', { window: 0, used: 0, free: { 0: 0, 1: 0 } }, false],
    ['tries', { sign_ins: {} }, true],
    ['tries', { sign_ins: { a: [0, -0.5], b: [1, 1] } }, true],
    ['tries', { sign_ins: { a: [0, 1], b: [-1, 1] } }, false],
    ['tries', { sign_ins: { a: [0, '1'] } }, false],
    ['tries', { sign_ins: { a: [0] } }, false],
    ['tries', { sign_ins: { a: { 0: 0, 1: 1 } } }, false],
    ['refresh-tokens', { saved: { a: ['ann', 's'] } }, true],
    ['refresh-tokens', { saved: { a: ['ann', ''] } }, false],
    ['refresh-tokens', { saved: { a: ['', 's'] } }, false],
    ['refresh-tokens', { saved: { a: ['ann'] } }, false],
    ['refresh-tokens', { saved: 'ann' }, false],
    ['notes', { notes: { a: 1 } }, true],
    ['notes', { notes: [] }, false],
    ['notes', { notes: null }, false],
    ['spooled', {}, true],
    ['spooled', { result: null }, true],
    ['spooled', { result: {} }, false],
    ['keeper', { signs: 0, swept_at: 0 }, true],
    ['keeper', { signs: 0, swept_at: 0, at: null, holder: null }, true],
    ['keeper', { signs: 0, swept_at: 0, at: '0' }, false],
    ['keeper', { signs: 0, swept_at: 0, holder: {} }, false],
    ['keeper', { signs: 0.5, swept_at: 0 }, false],
    ['roll-call', { call: 'c' }, true],
    ['roll-call', { call: 'c', schema: 2 }, false],
    ['signed-out', { generation: 1, replaces: [] }, true],
    ['signed-out', { generation: 1, replaces: ['a', ''] }, false],
    ['signed-out', { generation: Infinity }, false],
  ])('%s %j: %s', (state, fields, isIt) => {
    expect(isOne(state, fields)).toBe(isIt)
  })

  it('may be an empty access token where it has no life, and nowhere else', () => {
    const bare = (lifetime: number, access_token = ''): object => ({
      ...held,
      tokens: { ...tokens, access_token },
      lifetime,
    })
    for (const state of ['signed-in', 'reauthentication-required'] as const) {
      const fields = { reason: 'other_owner' }
      const taken = [bare(0), bare(1), bare(-1), bare(0, 'a'), bare(1, 'a')].map((one) =>
        isOne(state, { ...one, ...fields }),
      )
      expect(taken).toEqual([true, false, false, true, true])
    }
    expect(isOne('reauthentication-required', { ...held, reason: 'another' })).toBe(false)
  })

  it('is an address anew each time it is another one', () => {
    const at = (auth_url: unknown): boolean => isTokenSet({ ...tokens, auth_url })
    const addresses = ['https://a.example', 'https://a.example', 'nowhere', 'https://b.example', '', 7, 'nowhere']
    expect(addresses.map(at)).toEqual([true, true, false, true, false, false, false])
  })

  it('is told apart by its state, its version and the name of its write', () => {
    const record = signedOut as unknown as TokenRecord
    const outcome = (stored: object, ...states: ('signed-out' | 'notes')[]): unknown => {
      try {
        return checkedRecord(stored as never, ...states)
      } catch (error) {
        return Reflect.get(Object(error), 'reason')
      }
    }
    expect(outcome({ version: 1, writeId: 'w', record }, 'notes', 'signed-out')).toStrictEqual({
      version: 1,
      writeId: 'w',
      record,
    })
    expect(outcome({ version: 1, record, more: 1 }, 'signed-out')).toStrictEqual({
      version: 1,
      writeId: undefined,
      record,
    })
    expect(outcome({ version: 1, record }, 'notes')).toBe('corrupt')
    expect(outcome({ version: 1, writeId: 7, record }, 'signed-out')).toBe('corrupt')
    expect(outcome({ version: 0, record }, 'signed-out')).toBe('corrupt')
    const sealed = { schema: 1, state: 'sealed', key: 'k', nonce: 'n', sealed: 's' }
    expect(outcome({ version: 1, record: sealed }, 'signed-out')).toBe('wrong-key')
    expect(outcome({ version: 1, record: { ...sealed, nonce: '' } }, 'signed-out')).toBe('corrupt')
    expect(outcome({ version: 0, record: sealed }, 'signed-out')).toBe('corrupt')
  })
})

it('a record that a later release added something to is taken, and so is one with less than all', async () => {
  const store = mapStore()
  const { intent: _intent, ...plain } = signedIn
  const record = { ...plain, added: [1], tokens: { ...tokens, expires_in: null } }
  store.put(account, { version: 1, record: record as never })
  expect(await world.process({ store }).status(account)).toMatchObject({ state: 'valid' })
})

it.each([
  ['what it may have', { refusals: 'x' }, signedIn, true],
  ['what it has to have', { lifetime: 1 }, { ...signedIn, lifetime: undefined }, false],
])('a record has none of %s from Object.prototype', (_, polluted, record, isOne) => {
  const stored: TokenRecord = JSON.parse(JSON.stringify(record))
  Object.assign(Object.prototype, polluted)
  try {
    expect(isRecord(stored, 'signed-in')).toBe(isOne)
  } finally {
    for (const name of Object.keys(polluted)) Reflect.deleteProperty(Object.prototype, name)
  }
})
