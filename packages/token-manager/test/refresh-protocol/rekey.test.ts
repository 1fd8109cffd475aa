/** Changing the key of a store while a fleet uses it. */
import { describe, expect, it } from '@jest/globals'
import {
  FirewallChallengeError,
  firewallRecordName,
  notebook,
  rekey,
  withEncryption,
  type TokenStore,
} from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { account, bench, hours, namesIn } from './harness.ts'

const [oldKey, newKey, strange] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 3)]
const wrongKey = { code: 'ERR_SSO_STORE', reason: 'wrong-key' }

function place() {
  const beneath = mapStore()
  const under = (...keys: Buffer[]): TokenStore => withEncryption(beneath, keys)
  return { beneath, under }
}

describe('a change of the key (E16)', () => {
  it('leaves nothing under the old one: accounts, a past block, the budget, the broker’s clients', async () => {
    const [world, { beneath, under }] = [bench(), place()]
    const requestBudget = { perMinute: 60 }
    const before = world.process({ store: under(oldKey), requestBudget })
    await before.save(account, world.tokens())
    await before.save('signed out', world.tokens({ refresh_token: 'other' }))
    await before.forget('signed out')
    await notebook(under(oldKey), 'clients').change(() => ({ clients: ['heating'] }))
    world.answer = () =>
      Promise.reject(new FirewallChallengeError(world.now() / 1000 + 60, { step: 'refresh', status: 403 }))
    await expect(before.refresh(account)).rejects.toMatchObject({ code: 'ERR_SSO_FIREWALL_CHALLENGE' })
    world.answer = world.newTokens
    await world.pass(120_000)
    const names = await namesIn(beneath)
    const sealedBefore = new Map<string, unknown>()
    for (const name of names) sealedBefore.set(name, (await under(oldKey).read(name))?.record)
    const seen: number[] = []
    const onProgress = ({ rewritten }: { rewritten: number }): void => void seen.push(rewritten)
    expect(await rekey(under(newKey, oldKey), under(newKey), { onProgress })).toBe(names.length)
    expect(seen.slice(0, names.length)).toEqual(names.map((_, index) => index + 1))
    expect(await rekey(under(newKey, oldKey), under(newKey))).toBe(0)
    for (const name of names) expect((await under(newKey).read(name))?.record).toEqual(sealedBefore.get(name))
    const after = world.process({ store: under(newKey), requestBudget })
    const refreshed = after.refresh(account)
    await world.pass(5000)
    await refreshed
    expect(world.sent).toEqual(['r0', 'r0'])
    expect(await after.status('signed out')).toMatchObject({ state: 'signed-out' })
    expect(await notebook(under(newKey), 'clients').read()).toEqual({ clients: ['heating'] })
  })

  it('costs no refresh that is under way its tokens', async () => {
    const [world, { under }] = [bench(), place()]
    const tokens = world.process({ store: under(newKey, oldKey) })
    await world.process({ store: under(oldKey) }).save(account, world.tokens())
    await world.pass(hours(8))
    world.answer = async (...call) => {
      await rekey(under(newKey, oldKey), under(newKey))
      return world.newTokens(...call)
    }
    expect(await tokens.getAccessToken(account)).toBe('a1')
    const other = world.process({ store: under(newKey) })
    expect([await other.getAccessToken(account), world.sent]).toEqual(['a1', ['r0']])
  })

  it('passes over what no key opens, and says so; but what is begun anew by itself holds up nobody', async () => {
    const [world, { under }] = [bench(), place()]
    await world.process({ store: under(oldKey) }).save('one', world.tokens())
    const past = { schema: 1, state: 'firewall', challenges: 0, noted_at: 0, wait: 0 } as const
    await under(strange).swap(firewallRecordName('https://strange.example'), 0, past, 'w')
    expect(await rekey(under(newKey, oldKey), under(newKey))).toBe(2)
    await world.process({ store: under(strange) }).save('two', world.tokens({ refresh_token: 'r' }))
    await world.process({ store: under(oldKey) }).save('three', world.tokens({ refresh_token: 's' }))
    await expect(rekey(under(newKey, oldKey), under(newKey))).rejects.toMatchObject(wrongKey)
    expect(await under(newKey).read('three')).toMatchObject({ record: { tokens: { refresh_token: 's' } } })
  })

  it('says so where a process goes on to seal with the old key', async () => {
    const [world, { under }] = [bench(), place()]
    await world.process({ store: under(oldKey) }).save(account, world.tokens())
    const late = notebook(under(oldKey, newKey), 'clients')
    let changes = 0
    const onProgress = (): void => void late.change(() => ({ changes: (changes += 1) }))
    await expect(rekey(under(newKey, oldKey), under(newKey), { onProgress })).rejects.toMatchObject({
      ...wrongKey,
      message: expect.stringContaining('give every process the new key first'),
    })
  })

  it('is refused where the second store is another place, or the first can’t list', async () => {
    const [world, { under }] = [bench(), place()]
    await world.process({ store: under(oldKey) }).save(account, world.tokens())
    await expect(rekey(under(oldKey), place().under(newKey))).rejects.toThrow('not the same store')
    const listed = under(oldKey)
    const unlisted: TokenStore = { read: (name) => listed.read(name), swap: (...call) => listed.swap(...call) }
    await expect(rekey(unlisted, under(newKey))).rejects.toThrow(TypeError)
  })
})
