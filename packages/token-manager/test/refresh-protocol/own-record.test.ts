/** Records that are no account's: one that can't be read ends nothing. */
import { describe, expect, it, jest } from '@jest/globals'
import { firewallRecordName, refreshBudgetRecordName, withEncryption, type TokenStore } from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { account, bench } from './harness.ts'

const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const requestBudget = { perMinute: 60 }

describe('a record of the firewall, or of the budget (E15)', () => {
  const names = { firewallRecordName, refreshBudgetRecordName }

  it.each(Object.entries(names))('that a key has sealed which is gone is replaced: %s', async (kind, nameOf) => {
    const [world, beneath] = [bench(), mapStore()]
    const auth_url = `https://${kind.toLowerCase()}.sealed.example`
    const sealed = (...keys: Uint8Array[]): TokenStore => withEncryption(beneath, keys)
    await sealed(oldKey).swap(nameOf(auth_url), 0, { schema: 1, state: 'roll-call', call: 'x' }, 'w')
    const one = world.process({ store: sealed(newKey), requestBudget })
    await one.save(account, world.tokens({ auth_url }))
    expect(await one.refresh(account).then(() => world.sent)).toEqual(['r0'])
    expect((await sealed(newKey).read(nameOf(auth_url)))?.version).toBeGreaterThan(1)
  })

  it.each(Object.entries(names))(
    'that is damaged or newer is replaced, which a warning tells once: %s',
    async (kind, nameOf) => {
      const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => undefined)
      const world = bench()
      const auth_url = `https://${kind.toLowerCase()}.damaged.example`
      const fleet = [world.process({ requestBudget }), world.process({ requestBudget })]
      await fleet[0]?.save(account, world.tokens({ auth_url }))
      for (const [at, record] of ['{"hello":"world"}', '{"schema":2,"state":"of a later release"}'].entries()) {
        world.store.put(nameOf(auth_url), { version: 9, record: JSON.parse(record) })
        await Promise.all(fleet.map(async (tokens) => tokens.getAccessToken(account)))
        const refresh = fleet[at]?.refresh(account)
        await world.pass(65_000)
        await refresh
        expect(world.sent).toHaveLength(at + 1)
      }
      const name = nameOf(auth_url)
      const warnings = warn.mock.calls.map(([message]) => String(message))
      warn.mockRestore()
      expect(warnings.filter((warning) => warning.includes(name))).toEqual([
        `The token store's record ${name} could not be read (corrupt) and was begun anew. No account is concerned.`,
      ])
    },
  )

  it('that can’t be replaced says which it is, and what to do', async () => {
    const world = bench()
    const name = firewallRecordName('https://stuck.example')
    const store: TokenStore = {
      ...world.store,
      swap: async (at, ...rest) => (at === name ? { conflict: true } : world.store.swap(at, ...rest)),
    }
    world.store.put(name, { version: 9, record: JSON.parse('{}') })
    const tokens = world.process({ store })
    await tokens.save(account, world.tokens({ auth_url: 'https://stuck.example' }))
    await expect(tokens.refresh(account)).rejects.toMatchObject({
      reason: 'corrupt',
      message: expect.stringContaining(name),
    })
  })
})

describe('what can’t be', () => {
  it('is not believed: places that are taken for hours to come', async () => {
    const world = bench()
    const auth_url = 'https://booked.example'
    const tokens = world.process({ requestBudget })
    await tokens.save(account, world.tokens({ auth_url }))
    const booked = { schema: 1, state: 'refresh-budget', window: 5, used: 0, free: [50_000, 0] } as const
    world.store.put(refreshBudgetRecordName(auth_url), { version: 9, record: booked })
    const refresh = tokens.refresh(account)
    await world.pass(3000)
    await refresh
    expect(world.sent).toEqual(['r0'])
  })

  it('is not believed: a block of years', async () => {
    const world = bench()
    const auth_url = 'https://blocked.example'
    const tokens = world.process()
    await tokens.save(account, world.tokens({ auth_url }))
    const noted_at = Math.floor(world.now() / 1000)
    const block = { schema: 1, state: 'firewall', challenges: 1, noted_at, wait: 1e9 } as const
    world.store.put(firewallRecordName(auth_url), { version: 9, record: block })
    await tokens.refresh(account)
    expect(world.sent).toEqual(['r0'])
  })
})
