import { expect, it } from '@jest/globals'
import { machine } from '../../src/refresh-protocol/machine.ts'
import { explore } from './simulation/explorer.ts'
import { createMachineBehaviour } from './simulation/machine-behaviour.ts'
import { calm, type Scenario } from './simulation/scenario.ts'
import { mediumWorlds, smallWorlds, wideWorlds, largeWorlds } from './simulation/worlds.ts'

Error.stackTraceLimit = 0
it.each(Object.entries<Partial<Scenario>>({ ...smallWorlds, ...mediumWorlds, ...wideWorlds }))('%s', async (name, world) => {
  if (world.firewall) return
  const kind = { rotation: 'strict', token: 'ageing', sameHost: false } as const
  const scenario = { ...calm, ...kind, ...world, machine }
  const t = Date.now()
  const found = await explore(scenario, 500_000, 1, createMachineBehaviour(scenario))
  console.log(name, Date.now() - t, found)
  expect(found.violation).toBeUndefined()
}, 3_600_000)
it('large', async () => {
  const kind = { rotation: 'strict', token: 'ageing', sameHost: false } as const
  const scenario = { ...calm, ...kind, ...Object.values(largeWorlds)[0], machine }
  const t = Date.now()
  const found = await explore(scenario, 100_000, 1, createMachineBehaviour(scenario))
  console.log('large', Date.now() - t, found)
  expect(found.violation).toBeUndefined()
}, 3_600_000)
