/**
 * The real token manager in a simulated world: every order of things, and each rule taken out in turn.
 *
 * `OWNER_SSO_SOAK=1` looks at far more states.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { machine } from '../../src/refresh-protocol/machine.ts'
import { type Behaviour, createBehaviour } from './simulation/behaviour.ts'
import { explore } from './simulation/explorer.ts'
import { sample } from './simulation/sampler.ts'
import { calm, type Scenario } from './simulation/scenario.ts'
import type { Rotation } from './simulation/service.ts'
import { largeWorlds, mediumWorlds, smallWorlds, wideWorlds, wildWorlds } from './simulation/worlds.ts'

const soak = process.env['OWNER_SSO_SOAK'] === '1'
const rotations: Rotation[] = ['strict', 'family', 'graceful', 'fixed']
const { stackTraceLimit } = Error

beforeAll(() => {
  // Some hundred thousand errors are made here, and nobody looks where.
  Error.stackTraceLimit = 0
})
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit
})

type Kind = Pick<Scenario, 'rotation' | 'token' | 'sameHost'>
const kinds: Kind[] = rotations.flatMap((rotation) =>
  (['expired', 'ageing'] as const).flatMap((token) => [false, true].map((sameHost) => ({ rotation, token, sameHost }))),
)
/** Each service, token and host, but not each with each. */
const someKinds: Kind[] = [
  { rotation: 'strict', token: 'ageing', sameHost: false },
  { rotation: 'family', token: 'fresh', sameHost: true },
  { rotation: 'graceful', token: 'expired', sameHost: false },
  { rotation: 'fixed', token: 'ageing', sameHost: true },
]

/** Each service with each token and each host, but not each with both: fewer kinds, each of them further. */
const halfOfKinds: Kind[] = kinds.filter((_kind, index) => [0, 3, 5, 6].includes(index % 8))
const everyKind: Kind[] = [
  ...kinds,
  ...rotations.map((rotation) => ({ rotation, token: 'fresh' as const, sameHost: false })),
]
/** Milliseconds for one test, which a loaded machine may need. */
const patience = 3_600_000

/** What processes do is the same in all worlds: found out once. A soak finds out more than fits into memory. */
const behaviours = new Map<string, Behaviour>()

function behaviourOf(scenario: Scenario): Behaviour | undefined {
  if (soak) return undefined
  const { sameHost, firewall, rotationGrace } = scenario
  const name = `${sameHost} ${firewall} ${rotationGrace}`
  const known = behaviours.get(name) ?? createBehaviour({ machine, sameHost, firewall, rotationGrace })
  behaviours.set(name, known)
  return known
}

describe('every order of two processes (A9)', () => {
  async function expectNoHarm(world: Partial<Scenario>, of: readonly Kind[]): Promise<void> {
    for (const kind of soak ? everyKind : of) {
      const scenario = { ...calm, ...kind, ...world, machine }
      const { violation, complete } = await explore(scenario, 500_000, 1, behaviourOf(scenario))
      expect({ kind, violation, complete }).toEqual({ kind, violation: undefined, complete: true })
    }
  }

  it.each(Object.entries<Partial<Scenario>>(smallWorlds))(
    'does no harm with %s',
    async (_name, world) => expectNoHarm(world, someKinds),
    patience,
  )

  it.each(Object.entries<Partial<Scenario>>(mediumWorlds))(
    'does no harm with %s',
    async (_name, world) => expectNoHarm(world, someKinds.slice(0, 1)),
    patience,
  )

  it.each(Object.entries<Partial<Scenario>>(wideWorlds))(
    'does no harm with %s',
    async (_name, world) => expectNoHarm(world, [{ rotation: 'family', token: 'expired', sameHost: false }]),
    patience,
  )
})

describe('orders of more that goes wrong, as many as time allows', () => {
  it.each<[keyof typeof largeWorlds, number]>([
    ['two processes with 2 crashes, 2 pauses, 2 lost replies, a sign-in and a sign-out', soak ? 900_000 : 100_000],
    ['three processes with a crash, a pause and a lost reply', soak ? 690_000 : 75_000],
  ])(
    'does no harm to %s: %i states',
    async (name, least) => {
      const of = soak ? kinds : halfOfKinds
      const bound = Math.ceil(least / of.length)
      let seen = 0
      for (const [index, kind] of of.entries()) {
        const scenario = { ...calm, ...largeWorlds[name], ...kind, machine }
        const { violation, states } = await explore(scenario, bound, index + 1, behaviourOf(scenario))
        expect({ kind, violation }).toEqual({ kind, violation: undefined })
        seen += states
      }
      expect(seen).toBeGreaterThanOrEqual(least)
    },
    patience,
  )

  it.each(Object.entries<Partial<Scenario>>(wildWorlds))(
    'does no harm to %s: ways by chance',
    async (_name, world) => {
      const walks = soak ? 200 : 60
      for (const [index, kind] of (soak ? everyKind : someKinds).entries()) {
        const scenario = { ...calm, ...world, ...kind, machine }
        const { violation } = await sample(scenario, walks, index + 1, behaviourOf(scenario))
        expect({ kind, violation }).toEqual({ kind, violation: undefined })
      }
    },
    patience,
  )
})
