/** The history of an account in its record: what goes in, what stays, and what becomes of one that is damaged. */
import { describe, expect, it } from '@jest/globals'
import { copyTokenSets, rekey, withEncryption, UnreachableError } from '../../src/index.ts'
import { eventsIn, type Happening, historyWith, joined } from '../../src/store/history.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { account, anyRecord, type Bench, hours, idle, signedIn } from '../refresh-protocol/harness.ts'

const holder = { pid: 4711, host: 'nas' }
const lineage = 'Zp3kX9aQ-and-more'
const after = (history: unknown, happening: Happening, at = 1): string =>
  historyWith(history, { lineage, ...happening }, { wall: at * 1000, holder })
const textIn = async (world: Bench): Promise<string> =>
  String(Reflect.get((await world.store.read(account))?.record ?? {}, 'history'))

it('tells when, what, why, the service’s word, the process and its machine, and which refresh token', () => {
  const first = after(undefined, { what: 'signed-in' })
  const second = after(first, { what: 'failed', why: 'due', code: 'invalid_client' }, 2)
  expect(second).toBe('1 signed-in - - nas:4711 Zp3kX9aQ;2 failed due invalid_client nas:4711 Zp3kX9aQ')
  expect(eventsIn(second)).toEqual({
    events: [
      { what: 'signed-in', at: 1, times: 1, until: 1, host: 'nas', pid: 4711, token: 'Zp3kX9aQ' },
      {
        what: 'failed',
        why: 'due',
        code: 'invalid_client',
        at: 2,
        times: 1,
        until: 2,
        host: 'nas',
        pid: 4711,
        token: 'Zp3kX9aQ',
      },
    ],
    unreadable: 0,
    isFull: false,
  })
})

it('counts what happens again and again, so that an outage of a day does not push out what was before', () => {
  let history = after(undefined, { what: 'signed-in' })
  for (let at = 2; at <= 300; at += 1) history = after(history, { what: 'failed', why: 'due', code: 'UNREACHABLE' }, at)
  const { events } = eventsIn(history)
  expect(events).toHaveLength(2)
  expect(events[1]).toMatchObject({ what: 'failed', at: 2, times: 299, until: 300 })
})

it('keeps the last 32, and never more than 2,250 characters', () => {
  const grown = (code?: string): string => {
    let history = ''
    for (let at = 1_767_225_600; at < 1_767_225_700; at += 1)
      history = historyWith(
        history,
        { what: 'refreshed', why: 'expired', code, lineage: `${at % 7}-lineage` },
        { wall: at * 1000, holder: { pid: 4_194_304, host: 'a-machine-with-a-long-name.example' } },
      )
    return history
  }
  expect(eventsIn(grown()).events).toHaveLength(32)
  expect(eventsIn(grown()).events.at(-1)).toMatchObject({ at: 1_767_225_699 })
  const longest = grown('the-longest-word-that-a-service-can-say')
  expect(longest.length).toBeLessThanOrEqual(2250)
  expect(eventsIn(longest)).toMatchObject({ unreadable: 0 })
})

it('holds nothing that its form does not know, whatever a name or a word is', () => {
  const wicked = { pid: 1, host: 'a;b c\u001B[2J\n<script>' }
  const history = historyWith(
    '',
    { what: 'failed', why: 'a b;', code: '; drop', lineage: 'x;y zzz' },
    { wall: 0, holder: wicked },
  )
  expect(history).toBe('0 failed ab drop abc2Jscript:1 xyzzz')
})

describe('a history that is damaged', () => {
  it.each([
    ['an entry', '1 signed-in - - nas:1 abc;?!;2 refreshed due - nas:1 def', 2, 1],
    ['nothing, but of a newer release', '1 signed-in - - nas:1 abc;2 levitated due - nas:1 def', 2, 0],
    ['a cut text', '1 signed-in - - nas:1 abc;2 refre', 1, 1],
    ['a list', ['1 signed-in - - nas:1 abc'], 0, 1],
    ['an object', { at: 1 }, 0, 1],
    ['a number', 7, 0, 1],
    ['nothing', null, 0, 0],
    ['a megabyte', `1 signed-in - - nas:1 abc;${'x'.repeat(1_000_000)}`, 0, 1],
  ])('by %s is read as far as it can be, and that is said', async (_, damaged, read, unreadable) => {
    expect(eventsIn(damaged)).toMatchObject({ events: { length: read }, unreadable })
    const { world, tokens } = await signedIn()
    const stored = await world.store.read(account)
    world.store.put(account, {
      version: 2,
      writeId: 'theirs',
      record: anyRecord({ ...stored?.record, history: damaged }),
    })
    const other = world.process()
    const { events, why } = await other.history(account)
    expect(events).toHaveLength(read)
    const said = why.rests_on.filter((line) => line.includes('can’t be read'))
    expect(said).toHaveLength(unreadable)
    // The next event stands behind the rest.
    await world.pass(hours(9))
    await other.getAccessToken(account)
    expect((await tokens.history(account)).events.at(-1)).toMatchObject({ what: 'refreshed', why: 'expired' })
    expect((await textIn(world)).length).toBeLessThanOrEqual(2250)
  })
})

describe('two histories of one account', () => {
  const common = after(after('', { what: 'signed-in' }), { what: 'refreshed', why: 'due' }, 2)
  it('are one where the second goes on from the first, in the order in which they were written', () => {
    const ahead = after(common, { what: 'failed' }, 9000)
    const next = after(ahead, { what: 'refused' }, 3)
    expect(joined(ahead, next)).toBe(next)
    expect(joined(common, undefined)).toBe(common)
    expect(joined(undefined, common)).toBe(common)
    expect(joined(undefined, undefined)).toBeUndefined()
    let long = common
    for (let at = 3; at < 40; at += 1) long = after(long, { what: 'failed', code: `c${at}` }, at)
    expect(joined(long, after(long, { what: 'refused' }, 41))).toBe(after(long, { what: 'refused' }, 41))
  })

  it('are told in the order of their times where they parted', () => {
    const one = after(common, { what: 'restored' }, 5)
    const other = after(common, { what: 'failed' }, 4)
    const inOrder = ['signed-in', 'refreshed', 'failed', 'restored']
    expect(eventsIn(joined(one, other)).events.map(({ what }) => what)).toEqual(inOrder)
    const again = after(one, { what: 'restored' }, 6)
    expect(eventsIn(joined(one, again)).events.at(-1)).toMatchObject({ what: 'restored', times: 2 })
  })
})

describe('a record’s history', () => {
  it('goes along with writes that are made anyway, and tells each of them', async () => {
    const { world, tokens } = await signedIn()
    let writes = 0
    const { swap } = world.store
    world.store.swap = (...call) => {
      writes += 1
      return swap(...call)
    }
    await world.pass(hours(7))
    await tokens.refresh(account)
    // The intent, and the tokens.
    expect(writes).toBe(2)
    world.answer = () => Promise.reject(new UnreachableError('no connection', { requestSent: false }))
    await world.pass(hours(7))
    await tokens.getAccessToken(account)
    await idle()
    expect(writes).toBe(4)
    world.answer = world.newTokens
    await tokens.history(account)
    await tokens.forget(account)
    expect(writes).toBe(5)
    expect((await tokens.history(account)).events.map(({ what, why }) => `${what} ${why ?? ''}`.trim())).toEqual([
      'signed-in',
      'refreshed asked',
      'failed due',
      'signed-out',
    ])
  })

  it('goes on over a sign-out, a new sign-in, a copy, another key, and an import', async () => {
    const { world, tokens } = await signedIn()
    await tokens.forget(account)
    await tokens.save(account, world.tokens({ refresh_token: 'r9' }))
    const [oldKey, newKey] = [new Uint8Array(32), new Uint8Array(32).fill(1)]
    const beneath = mapStore()
    await copyTokenSets(world.store, withEncryption(beneath, [oldKey]))
    const both = withEncryption(beneath, [newKey, oldKey])
    await rekey(both, withEncryption(beneath, [newKey]))
    const copied = (await both.read(account))?.record
    const history = copied?.state === 'signed-in' ? copied.history : undefined
    const imported = world.process({ store: mapStore() })
    await imported.save(account, { refresh_token: 'r9', auth_url: 'http://127.0.0.1:9', history })
    const { events } = await imported.history(account)
    expect(events.map(({ what }) => what)).toEqual(['signed-in', 'signed-out', 'signed-in', 'copied', 'signed-in'])
    expect(events.at(-1)).toMatchObject({ why: 'brought', token: events[2]?.token })
    await expect(
      imported.save('another@example.com', {
        refresh_token: 'r8',
        auth_url: 'http://127.0.0.1:9',
        history: JSON.parse('{}'),
      }),
    ).rejects.toThrow(new TypeError('tokens.history must be a string'))
  })

  it('holds no token, and names one token otherwise under another account', async () => {
    const { world, tokens } = await signedIn()
    await tokens.save('other@example.com', world.tokens({ refresh_token: 'r5' }))
    await world.process({ store: mapStore() }).save(account, world.tokens({ refresh_token: 'r5' }))
    await world.pass(hours(7))
    await tokens.refresh(account)
    expect(await textIn(world)).not.toMatch(/\b[ar]\d/u)
    const named = async (name: string): Promise<unknown> => (await tokens.history(name)).events[0]?.token
    expect(await named('other@example.com')).not.toBe(await named(account))
  })

  it('grows by 2.3 KB at the most', async () => {
    const { world, tokens } = await signedIn()
    const size = async (): Promise<number> => JSON.stringify((await world.store.read(account))?.record).length
    const { history, ...without } = { history: '', ...(await world.store.read(account))?.record }
    const before = JSON.stringify(without).length
    expect(history).toContain('signed-in')
    for (let refreshes = 0; refreshes < 40; refreshes += 1) {
      await world.pass(hours(7))
      await tokens.refresh(account)
    }
    expect((await tokens.history(account)).events).toHaveLength(32)
    // What else a refresh adds: the predecessor, and the lineages of tokens before.
    expect((await textIn(world)).length).toBeLessThan(1600)
    expect((await size()) - before).toBeLessThan(3000)
  })
})
