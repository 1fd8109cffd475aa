/** Two releases share one store while a deployment goes on: neither loses what the other wrote. */
import { createHmac } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { withEncryption, type TokenManager, type TokenRecord, type TokenStore } from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { account, type Bench, bench, hours, signedIn } from './harness.ts'

/** A record, whatever a release put into it. */
type Fields = Readonly<Record<string, unknown>>
const asRecord = (fields: Fields): TokenRecord => JSON.parse(JSON.stringify(fields))
const fieldsIn = async (store: TokenStore): Promise<Fields> => ({ ...(await store.read(account))?.record })

/**
 * How the first release refreshed, frozen: it swaps its intent in, sends, and writes a record of the fields that it knew, and no
 * others. It is not to be changed when a record gets a new field.
 */
const refreshAsFirstRelease = (world: Bench, store: TokenStore): Promise<'sent' | 'left alone'> =>
  refreshAsBefore(world, store, () => ({}))

/** The release before the history, frozen as well: it hands on what it does not know, and knows no history. */
const refreshBeforeHistory = (world: Bench, store: TokenStore): Promise<'sent' | 'left alone'> =>
  refreshAsBefore(world, store, (record) =>
    Object.fromEntries(Object.entries(record).filter(([name]) => !knownBeforeHistory.has(name))),
  )
const knownBeforeHistory = new Set([
  'schema',
  'generation',
  'session',
  'replaces',
  'spent',
  'refreshes',
  'lineage',
  'tokens',
  'obtained_at',
  'lifetime',
  'refusals',
  'refusedBefore',
  'predecessor',
  'failure',
  'state',
  'intent',
  'rejections',
  'reason',
  'description',
])

async function refreshAsBefore(
  world: Bench,
  store: TokenStore,
  handedOn: (record: Fields) => Fields,
): Promise<'sent' | 'left alone'> {
  const stored = await store.read(account)
  const before: Fields = { ...stored?.record }
  const { schema, state, generation, session, replaces, refreshes, intent } = before
  if (stored === undefined || schema !== 1 || state !== 'signed-in' || intent !== undefined) return 'left alone'
  const tokens: Fields = JSON.parse(JSON.stringify(before['tokens']))
  const at = world.now() / 1000
  const held = { ...before, tokens, intent: { id: 'frozen', holder: { pid: 7, boot: 'old' }, replay: 0, at } }
  const swapped = await store.swap(account, stored.version, asRecord(held), 'frozen intent')
  if ('conflict' in swapped) return 'left alone'
  world.sent.push(String(tokens['refresh_token']))
  const refresh_token = `old-r${world.sent.length}`
  const next = {
    schema: 1,
    generation,
    session,
    replaces,
    state: 'signed-in',
    refreshes: Number(refreshes) + 1,
    lineage: createHmac('sha256', account).update(refresh_token).digest('base64url'),
    tokens: world.tokens({ access_token: `old-a${world.sent.length}`, refresh_token }),
    obtained_at: at,
    lifetime: 28_800,
    ...handedOn(before),
  }
  await store.swap(account, swapped.version, asRecord(next), 'frozen result')
  return 'sent'
}

/** What this release has to read: records as the first release wrote them, to the byte. */
const recorded = {
  'signed-in':
    '{"schema":1,"generation":1,"session":"s1","replaces":[],"state":"signed-in","refreshes":1,"lineage":"8-MKnE8yfN1gU8ckX-DextO6irTaoXXOvJGGoUSk6MM","tokens":{"access_token":"a0","refresh_token":"r0","token_type":"Bearer","expires_at":1767254400,"auth_url":"http://127.0.0.1:9"},"obtained_at":1767225600,"lifetime":28800}',
  'signed-out':
    '{"schema":1,"generation":2,"session":"s2","replaces":["s1"],"state":"signed-out","signed_out_at":1767225600}',
  'reauthentication-required':
    '{"schema":1,"generation":1,"session":"s1","replaces":[],"state":"reauthentication-required","refreshes":1,"lineage":"8-MKnE8yfN1gU8ckX-DextO6irTaoXXOvJGGoUSk6MM","tokens":{"access_token":"a0","refresh_token":"r0","token_type":"Bearer","expires_at":1767254400,"auth_url":"http://127.0.0.1:9"},"obtained_at":1767225600,"lifetime":28800,"reason":"rotated_token_lost"}',
}

describe('this release and the first one, in one store', () => {
  it('take turns at refreshing, and no refresh token is sent twice (E18)', async () => {
    const { world, tokens } = await signedIn()
    for (let turn = 0; turn < 3; turn += 1) {
      await world.pass(hours(9))
      await refreshAsFirstRelease(world, world.store)
      expect(await tokens.getAccessToken(account)).toMatch(/^old-a/u)
      await world.pass(hours(9))
      expect(await tokens.getAccessToken(account)).toMatch(/^a/u)
    }
    expect(world.sent).toHaveLength(6)
    expect(new Set(world.sent).size).toBe(6)
    await tokens.forget(account)
    expect(await refreshAsFirstRelease(world, world.store)).toBe('left alone')
  })

  it('share the token that works where the owner API refused the one of a refresh, and send no refresh token twice', async () => {
    const { world, tokens } = await signedIn()
    await world.pass(hours(7))
    await tokens.refresh(account)
    await tokens.invalidate(account, 'a1')
    // What that release serves, and what it sends next.
    expect(await fieldsIn(world.store)).toMatchObject({ tokens: { access_token: 'a0', refresh_token: 'r1' } })
    await refreshAsFirstRelease(world, world.store)
    await tokens.invalidate(account, 'a0')
    expect(await tokens.getAccessToken(account)).toMatch(/^old-a/u)
    await world.pass(hours(7))
    await tokens.getAccessToken(account)
    await world.pass(0)
    expect(new Set(world.sent).size).toBe(world.sent.length)
  })

  it.each(Object.entries(recorded))('reads what that wrote: %s', async (state, bytes) => {
    const world = bench()
    world.store.put(account, { version: 1, writeId: 'w', record: JSON.parse(bytes) })
    expect(await world.process().status(account)).toMatchObject({ state: state === 'signed-in' ? 'valid' : state })
  })
})

describe('this release and the one before the history', () => {
  it('share a record: nothing of its history is dropped, and it is said that somebody wrote none', async () => {
    const { world, tokens } = await signedIn()
    await world.pass(hours(7))
    await tokens.refresh(account)
    const { events } = await tokens.history(account)
    for (let turn = 0; turn < 3; turn += 1) {
      await world.pass(hours(9))
      expect(await refreshBeforeHistory(world, world.store)).toBe('sent')
    }
    const then = await world.process().history(account)
    expect(then.events).toEqual(events)
    expect(then.why).toMatchObject({
      cause: 'signed-in',
      rests_on: expect.arrayContaining(['A release that writes no history has refreshed it since.']),
    })
    await world.pass(hours(9))
    await tokens.getAccessToken(account)
    const after = await tokens.history(account)
    expect(after.events.slice(0, -1)).toEqual(events)
    expect(after.events.at(-1)).toMatchObject({ what: 'refreshed', why: 'expired' })
  })

  it('say that the one before wrote no history, where that has dropped it', async () => {
    const { world, tokens } = await signedIn()
    await world.pass(hours(9))
    await refreshAsFirstRelease(world, world.store)
    const { events, why } = await tokens.history(account)
    expect({ events, rests_on: why.rests_on }).toEqual({
      events: [],
      rests_on: ['Nothing was written down before 2026-01-01 09:00 UTC.'],
    })
  })
})

describe('a record that a newer release wrote', () => {
  const newer = {
    code: 'ERR_SSO_STORE',
    reason: 'newer-release',
    message: expect.stringMatching(/Update this one.*Don’t remove/u),
  }
  const calls: readonly [string, (tokens: TokenManager, world: Bench) => Promise<unknown>][] = [
    ['getAccessToken', (tokens) => tokens.getAccessToken(account)],
    ['refresh', (tokens) => tokens.refresh(account)],
    ['status', (tokens) => tokens.status(account)],
    ['forget', (tokens) => tokens.forget(account)],
    ['save', (tokens, world) => tokens.save(account, world.tokens({ refresh_token: 'another' }))],
    [
      'accounts',
      async (tokens) => {
        for await (const name of tokens.accounts()) expect(name).toBe('none')
      },
    ],
  ]

  it.each(calls)('in another form is told as that by %s, and stays as it is', async (_, call) => {
    const world = bench()
    const record = asRecord({ schema: 2, state: 'signed-in', whatever: { token: 'x' } })
    world.store.put(account, { version: 4, writeId: 'theirs', record })
    await expect(call(world.process(), world)).rejects.toMatchObject(newer)
    expect(await world.store.read(account)).toEqual({ version: 4, writeId: 'theirs', record })
  })

  it('and sealed in another form is told as that', async () => {
    const store = mapStore()
    store.put(account, { version: 1, record: asRecord({ schema: 2, state: 'sealed', cipher: 'another' }) })
    const sealed = withEncryption(store, [new Uint8Array(32)])
    await expect(bench().process({ store: sealed }).getAccessToken(account)).rejects.toMatchObject(newer)
  })

  it('with fields that are not known here keeps them through refreshes', async () => {
    const { world } = await signedIn()
    const more = { since: { a_later: 'release' }, note: 7 }
    const [stored] = [await world.store.read(account)]
    world.store.put(account, { version: 2, writeId: 'theirs', record: asRecord({ ...stored?.record, ...more }) })
    for (let refreshes = 1; refreshes < 4; refreshes += 1) {
      await world.pass(hours(9))
      await world.process().getAccessToken(account)
      expect(await fieldsIn(world.store)).toMatchObject({ refreshes, ...more })
    }
  })

  it('while a refresh was under way keeps what that wrote', async () => {
    const { world, tokens } = await signedIn()
    world.answer = async (...args) => {
      const held = await world.store.read(account)
      const version = (held?.version ?? 0) + 1
      world.store.put(account, { version, writeId: 'theirs', record: asRecord({ ...held?.record, note: 7 }) })
      return world.newTokens(...args)
    }
    await tokens.refresh(account)
    expect(await fieldsIn(world.store)).toMatchObject({ refreshes: 1, note: 7 })
  })
})
