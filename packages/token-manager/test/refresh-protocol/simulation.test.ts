/**
 * The refresh protocol in a simulated world: every order of things, and each rule taken out in turn. First the machine alone,
 * then the real token manager around it.
 *
 * Proved of the machine, with one or two combinations of service, token and host each: in every order two processes do no harm with
 * two lost replies, two crashes or two failing store operations; a store that was emptied or went back, a sign-in, a sign-out or a
 * `refresh`, each with a crash; or one pause longer than an intent's life, wrong clock, sleep, cut connection, grace, `invalidate`,
 * exit after `settled`, or refresh token that is brought along. Nor do three processes with a crash or a failing store operation.
 *
 * Explored, 8,000 states of each: two pauses; a lost reply, a crash and a pause; three processes with a pause; four with a lost
 * reply; two with two crashes, two pauses, two lost replies, a sign-in and a sign-out; three with a crash, a pause and a lost reply.
 * Sampled: nine worlds in which much goes wrong at once.
 *
 * `OWNER_SSO_SOAK=1` proves the first four of what is explored here as well, takes many more combinations, and explores 1.6 million
 * states of the others.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { machine } from '../../src/kernel/machine.ts'
import { type Behaviour, createBehaviour } from './simulation/behaviour.ts'
import { explore } from './simulation/explorer.ts'
import { faults } from './simulation/faults.ts'
import { createMachineBehaviour } from './simulation/machine-behaviour.ts'
import { sample } from './simulation/sampler.ts'
import { calm, type Nature, type Scenario } from './simulation/scenario.ts'
import type { Rotation } from './simulation/service.ts'
import {
  callWorlds,
  deepWorlds,
  elsewhereWorlds,
  largeWorlds,
  mediumWorlds,
  smallWorlds,
  wideWorlds,
  wildWorlds,
} from './simulation/worlds.ts'

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
type World = readonly [name: string, world: Partial<Scenario>]

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
/** So many of them for the world of this number: all worlds together go through each of them. */
const kindsFor = (index: number, count: number): Kind[] =>
  someKinds.filter((_kind, of) => (of + index) % (someKinds.length / count) === 0)
const firstKind = someKinds.slice(0, 1)
const expired: Kind[] = [{ rotation: 'family', token: 'expired', sameHost: false }]

/** Milliseconds for one test, which a loaded machine may need. */
const patience = 3_600_000

/** What the processes of a world are: the machine alone, or the token manager around it. */
type Making = (nature: Nature) => Behaviour

/** What processes do is the same in all worlds: found out once. A soak finds out more than fits into memory. */
function remembering(make: Making): Making {
  const known = new Map<string, Behaviour>()
  return (nature) => {
    const { sameHost, firewall, rotationGrace, elsewhere } = nature
    const name = `${sameHost} ${firewall} ${rotationGrace} ${elsewhere.join()}`
    const behaviour = known.get(name) ?? make(nature)
    if (!soak) known.set(name, behaviour)
    return behaviour
  }
}

async function expectNoHarm(make: Making, world: Partial<Scenario>, of: readonly Kind[]): Promise<void> {
  for (const kind of soak ? everyKind : of) {
    const scenario = { ...calm, ...kind, ...world, machine }
    const { violation, complete } = await explore(scenario, 1_000_000, 1, make(scenario))
    expect({ kind, violation, complete }).toEqual({ kind, violation: undefined, complete: true })
  }
}

async function expectNoHarmByChance(make: Making, world: Partial<Scenario>, walks: number): Promise<void> {
  for (const [index, kind] of (soak ? everyKind : someKinds).entries()) {
    const scenario = { ...calm, ...world, ...kind, machine }
    const { violation } = await sample(scenario, soak ? 200 : walks, index + 1, make(scenario))
    expect({ kind, violation }).toEqual({ kind, violation: undefined })
  }
}

const entriesOf = (worlds: Readonly<Record<string, Partial<Scenario>>>): World[] => Object.entries(worlds)
/** The machine alone has no firewall. */
const withoutFirewall = (worlds: World[]): World[] => worlds.filter(([, { firewall }]) => firewall !== true)
const withFirewall = (worlds: World[]): World[] => worlds.filter(([, { firewall }]) => firewall === true)
/** With so many of the kinds each. */
const eachWith = (count: number, worlds: World[]) =>
  worlds.map(([name, world], index) => [name, world, kindsFor(index, count)] as const)

describe('the machine, in every order (A9)', () => {
  const make = remembering(createMachineBehaviour)

  it.each([
    ...eachWith(2, withoutFirewall(entriesOf(smallWorlds))),
    ...eachWith(1, entriesOf({ ...mediumWorlds, ...callWorlds, ...elsewhereWorlds })),
  ])('does no harm with %s', async (_name, world, of) => expectNoHarm(make, world, of), patience)

  it.each(entriesOf({ ...wideWorlds, ...deepWorlds }))(
    'does no harm with %s',
    async (_name, world) => expectNoHarm(createMachineBehaviour, world, expired),
    patience,
  )
})

describe('the machine, in as many orders as time allows', () => {
  const least = soak ? 1_600_000 : 8_000

  it.each(entriesOf(largeWorlds))(
    'does no harm with %s',
    async (_name, world) => {
      const of = soak ? kinds : halfOfKinds
      let [seen, isWhole] = [0, true]
      for (const [index, kind] of of.entries()) {
        const scenario = { ...calm, ...world, ...kind, machine }
        const bound = Math.ceil(least / of.length)
        const { violation, states, complete } = await explore(
          scenario,
          bound,
          index + 1,
          createMachineBehaviour(scenario),
        )
        expect({ kind, violation }).toEqual({ kind, violation: undefined })
        seen += states
        isWhole &&= complete
      }
      expect(isWhole ? least : seen).toBeGreaterThanOrEqual(least)
    },
    patience,
  )

  it.each(entriesOf(wildWorlds))(
    'does no harm to %s: ways by chance',
    async (_name, world) => expectNoHarmByChance(createMachineBehaviour, { ...world, firewall: false, blocks: 0 }, 15),
    patience,
  )
})

describe('the token manager around the machine', () => {
  const make = remembering(createBehaviour)

  it.each(eachWith(2, withFirewall(entriesOf(smallWorlds))))(
    'does no harm with %s, in every order',
    async (_name, world, of) => expectNoHarm(make, world, of),
    patience,
  )

  it.each(withoutFirewall(entriesOf({ ...smallWorlds, ...callWorlds, ...elsewhereWorlds })))(
    'does no harm with %s, in every order',
    async (_name, world) => expectNoHarm(make, world, firstKind),
    patience,
  )

  it.each(entriesOf(wildWorlds))(
    'does no harm to %s: ways by chance',
    async (_name, world) => expectNoHarmByChance(make, world, 8),
    patience,
  )
})

describe('each rule is needed', () => {
  it.each(faults)(
    'without $takenOut: $harm',
    async ({ machine: faulty, compose, world, harm }) => {
      const fault = { machine: faulty, ...(compose && { compose }) }
      const real = { ...calm, ...world, machine }
      const make = real.firewall ? createBehaviour : createMachineBehaviour
      const { violation, states } = await explore({ ...real, ...fault }, 20_000, 1, make({ ...real, ...fault }))
      expect(violation?.verdict).toBe(harm)
      // In the same world the real machine does none.
      expect((await explore(real, Math.max(states, 200), 1, make(real))).violation).toBeUndefined()
    },
    patience,
  )
})
