/** How often a waiting sign-in may be answered, over all processes that share a store. */
import { createHash } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import type { TokenRecord, TokenStore, WaitingSignIn } from '../../src/index.ts'
import { bench, namesIn } from './harness.ts'

const soon = (now: number): number => now / 1000 + 300

/** Sign-ins that are counted in the same record. */
function idsOfOneRecord(count: number): string[] {
  const ids: string[] = []
  for (let index = 0; ids.length < count; index += 1) {
    const id = `sign-in ${index}`
    if (createHash('sha256').update(id).digest().readUInt8(31) % 64 === 0) ids.push(id)
  }
  return ids
}

/** Every record that the store was given, beside the accounts'. */
function watched(store: TokenStore): { store: TokenStore; records: Map<string, TokenRecord> } {
  const records = new Map<string, TokenRecord>()
  const swap: TokenStore['swap'] = async (name, expected, next, ...more) => {
    const answer = await store.swap(name, expected, next, ...more)
    if (!('conflict' in answer)) records.set(name, next)
    return answer
  }
  return { store: { ...store, swap }, records }
}

describe('answers to a waiting sign-in', () => {
  it('are claimed by one process each, however many ask at once', async () => {
    const world = bench()
    const fleet = Array.from({ length: 8 }, () => world.process())
    for (let tries = 0; tries < 5; tries += 1) {
      const answer: WaitingSignIn = { id: 'one', step: 'passcode', tries, expires_at: soon(world.now()) }
      const claims = await Promise.all([...fleet, ...fleet].map((tokens) => tokens.claimTry(answer)))
      expect(claims.filter(Boolean)).toHaveLength(1)
    }
  })

  it('can’t go back to an earlier one, nor do others’ answers or kinds matter', async () => {
    const world = bench()
    const [one, other] = [world.process(), world.process()]
    const answer: WaitingSignIn = { id: 'one', step: 'passcode', tries: 3, expires_at: soon(world.now()) }
    expect(await one.claimTry(answer)).toBe(true)
    for (const tries of [0, 1, 2, 3]) expect(await other.claimTry({ ...answer, tries })).toBe(false)
    expect(await other.claimTry({ ...answer, tries: 4 })).toBe(true)
    expect(await other.claimTry({ ...answer, tries: 0, id: 'another' })).toBe(true)
    expect(await other.claimTry({ ...answer, tries: 0, step: 'callback' })).toBe(true)
  })

  it('are counted under 16 characters of a digest, where every version of this library finds them', async () => {
    const world = bench()
    const { store, records } = watched(world.store)
    const expiresAt = soon(world.now())
    await world.process({ store }).claimTry({ id: 'one', step: 'passcode', tries: 2, expires_at: expiresAt })
    const key = createHash('sha256').update('one').digest('base64url').slice(0, 16)
    expect([...records.values()]).toEqual([{ schema: 1, state: 'tries', sign_ins: { [key]: [3, expiresAt] } }])
  })

  it('still count for a process whose clock is half an hour ahead', async () => {
    const world = bench()
    const [one, ahead] = [world.process(), world.process({}, 30 * 60_000)]
    const answer: WaitingSignIn = { id: 'one', step: 'passcode', tries: 0, expires_at: soon(world.now()) }
    expect(await one.claimTry(answer)).toBe(true)
    for (let index = 0; index < 500; index += 1) {
      await ahead.claimTry({ ...answer, id: `other ${index}`, expires_at: soon(world.now()) + 1800 })
    }
    expect(await one.claimTry(answer)).toBe(false)
  })

  it('are never sent uncounted, nor forgotten before their sign-in is over, however many there are at once', async () => {
    const world = bench()
    const tokens = world.process()
    const expiresAt = soon(world.now())
    const claim = (id: string, expires_at = expiresAt): Promise<boolean> =>
      tokens.claimTry({ id, step: 'passcode', tries: 0, expires_at })
    const [first = '', soonOver = '', oneMore = '', ...others] = idsOfOneRecord(502)
    expect(await claim(first)).toBe(true)
    for (const id of others) expect(await claim(id)).toBe(true)
    // Five hundred wait. What can't be counted is not sent, whether it ends before the others or after them.
    const busy = { code: 'ERR_SSO_STORE', reason: 'busy', requestSent: false }
    await expect(claim(soonOver, expiresAt - 200)).rejects.toMatchObject(busy)
    await expect(claim(oneMore, expiresAt + 100)).rejects.toMatchObject(busy)
    expect(await claim(first)).toBe(false)
    // Those that are over make room, once that is so by every clock of the fleet.
    await world.pass(599_000)
    await expect(claim(oneMore, soon(world.now()))).rejects.toMatchObject(busy)
    await world.pass(1000)
    expect(await claim(oneMore, soon(world.now()))).toBe(true)
    expect(await claim(oneMore, soon(world.now()))).toBe(false)
  })

  it('leave a bounded number of records, none of them an account or a name of one', async () => {
    const world = bench()
    const { store, records } = watched(world.store)
    const tokens = world.process({ store })
    for (let index = 0; index < 400; index += 1) {
      if (index === 300) await world.pass(3 * 60 * 60_000)
      await tokens.claimTry({ id: `jo${index}@example.com`, step: 'passcode', tries: 0, expires_at: soon(world.now()) })
    }
    expect(records.size).toBeLessThanOrEqual(64)
    expect(JSON.stringify([...records])).not.toContain('example.com')
    const counted = [...records.values()].map((record) =>
      record.state === 'tries' ? Object.keys(record.sign_ins) : [],
    )
    // The 300 of three hours before are gone.
    expect(counted.flat().length).toBeLessThan(250)
    const names = await namesIn(tokens)
    expect(names).toEqual([])
    for (const name of records.keys()) await expect(tokens.status(name)).rejects.toThrow(TypeError)
  })

  it('fail while the store does, and where its record is none and can’t be replaced', async () => {
    const world = bench()
    const answer: WaitingSignIn = { id: 'one', step: 'passcode', tries: 0, expires_at: soon(world.now()) }
    const down = world.process({ store: { ...world.store, read: () => Promise.reject(new Error('gone')) } })
    await expect(down.claimTry(answer)).rejects.toMatchObject({ code: 'ERR_SSO_STORE', reason: 'unavailable' })
    const poisoned: TokenRecord = JSON.parse('{"schema":1,"state":"tries","sign_ins":{"x":7}}')
    const strange = world.process({ store: { ...world.store, read: async () => ({ version: 1, record: poisoned }) } })
    await expect(strange.claimTry(answer)).rejects.toMatchObject({ code: 'ERR_SSO_STORE', reason: 'corrupt' })
  })
})
