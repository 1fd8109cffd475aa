/** A record that somebody else put into the store: told as an error of the store, whatever is wrong with it. */
import { describe, expect, it } from '@jest/globals'
import { firewallRecordName, withEncryption } from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { account, anyRecord, bench } from '../refresh-protocol/harness.ts'

const world = bench()
const tokens = world.tokens()
const host = firewallRecordName(tokens.auth_url)
const holder = { pid: 1, started: '5', boot: 'b', pidNamespace: 'n' }
const held = {
  schema: 1,
  generation: 1,
  refreshes: 1,
  lineage: 'l',
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
      store.put(account, { version: 1, record: anyRecord(changed) })
      await expectTold(store, where)
      expect((await store.read(account))?.version).toBe(1)
    }
  })

  it.each([null, [], 7, 'signed-in', { state: 'constructor' }, { __proto__: signedOut }])(
    'or without any is one as well: %j',
    async (record) => {
      const store = mapStore()
      store.put(account, { version: 1, record: anyRecord(record) })
      await expectTold(store, JSON.stringify(record))
      store.read = async () => ({ version: 1, record: record as never })
      await expectTold(store, `${JSON.stringify(record)}, not from JSON`)
    },
  )

  it.each([0, 1.5, -1, null, '1'])('or at a version that is none: %j', async (version) => {
    const store = mapStore()
    store.read = async () => ({ version: version as never, record: anyRecord(signedOut) })
    await expectTold(store, String(version))
  })

  const firewall0 = { state: 'firewall', challenges: 0 }

  it('of a firewall is begun anew: it holds up neither refreshes nor sign-ins', async () => {
    for (const [where, changed] of poisoned(firewall)) {
      const store = mapStore()
      const manager = world.process({ store })
      store.put(host, { version: 1, record: anyRecord(changed) })
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
    const store = withEncryption(beneath, [Buffer.alloc(32, 1)])
    await world.process({ store }).save(account, tokens)
    const sealed = await beneath.read(account)
    for (const [where, changed] of poisoned(sealed?.record ?? {})) {
      beneath.put(account, { version: 1, record: anyRecord(changed) })
      await expectTold(beneath, where)
      await expect(store.read(account)).rejects.toMatchObject({
        code: 'ERR_SSO_STORE',
        reason: expect.stringMatching(/^(?:corrupt|not-sealed|wrong-key)$/u),
      })
    }
    for (const inside of ['null', '[]', '7', '{"schema":1}']) {
      await store.swap(account, 1, JSON.parse(inside), inside)
      await expect(world.process({ store }).status(account)).rejects.toMatchObject(corrupt)
      beneath.clear()
      await store.swap(account, 0, anyRecord(signedOut), 'again')
    }
  })
})

it('a record that a later release added something to is taken, and so is one with less than all', async () => {
  const store = mapStore()
  const { intent: _intent, ...plain } = signedIn
  const record = { ...plain, added: [1], tokens: { ...tokens, expires_in: null } }
  store.put(account, { version: 1, record: anyRecord(record) })
  expect(await world.process({ store }).status(account)).toMatchObject({ state: 'valid' })
})

it.each([
  ['what it may have', { refusals: 'x' }, signedIn, 'in-doubt'],
  ['what it has to have', { lifetime: 1 }, { ...signedIn, lifetime: undefined }, 'corrupt'],
])('a record has none of %s from Object.prototype', async (_, polluted, record, expected) => {
  const store = mapStore()
  store.put(account, { version: 1, record: JSON.parse(JSON.stringify(record)) })
  Object.assign(Object.prototype, polluted)
  try {
    const told = world.process({ store }).status(account)
    expect(
      await told.then(
        ({ state }) => state,
        ({ reason }: { reason: string }) => reason,
      ),
    ).toBe(expected)
  } finally {
    for (const name of Object.keys(polluted)) Reflect.deleteProperty(Object.prototype, name)
  }
})
