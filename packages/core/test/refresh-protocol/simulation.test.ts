/**
 * The real token manager in a simulated world: every order of things, and each rule taken out in turn.
 *
 * `OWNER_SSO_SOAK=1` looks at far more states.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { rules } from '../../src/refresh-protocol/rules.ts'
import { createBehaviour } from './simulation/behaviour.ts'
import { explore } from './simulation/explorer.ts'
import { mutants } from './simulation/mutants.ts'
import { calm } from './simulation/scenario.ts'
import type { Scenario } from './simulation/scenario.ts'
import type { Rotation } from './simulation/service.ts'

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

const kinds: Pick<Scenario, 'rotation' | 'token' | 'sameHost'>[] = rotations.flatMap((rotation) =>
  (['expired', 'ageing'] as const).flatMap((token) => [false, true].map((sameHost) => ({ rotation, token, sameHost }))),
)

/** Explores a world with services, tokens and hosts of these kinds. Returns how many states it has seen. */
async function expectNoHarm(
  world: Partial<Scenario>,
  bound: number,
  { isWhole = false, of = kinds }: { readonly isWhole?: boolean; readonly of?: typeof kinds } = {},
): Promise<number> {
  // What processes do is the same whatever the service: found out once. A soak finds out more than fits into memory.
  const behaviours = new Map([false, true].map((sameHost) => [sameHost, createBehaviour({ rules, sameHost })]))
  let seen = 0
  for (const [index, kind] of of.entries()) {
    const scenario = { ...calm, ...world, ...kind, rules }
    const behaviour = soak ? undefined : behaviours.get(kind.sameHost)
    const { violation, complete, states } = await explore(scenario, bound, index + 1, behaviour)
    expect({ scenario, violation, isWhole: isWhole && complete }).toEqual({ scenario, violation: undefined, isWhole })
    seen += states
  }
  return seen
}

describe('every order of two processes', () => {
  it.each<[string, Partial<Scenario>]>([
    ['nothing going wrong', {}],
    ['lost replies', { lostReplies: 2 }],
    ['a crash', { crashes: 1 }],
    ['a store operation that fails', { storeFailures: 1 }],
    ['a pause', { pauses: 1 }],
    ['a sign-in', { signIns: 1 }],
    ['a sign-out', { signOuts: 1 }],
  ])(
    'does no harm with %s',
    async (_name, fault) => {
      const isLarge = fault.signIns !== undefined || fault.signOuts !== undefined
      // Each service, token and host once, not each with each.
      const of = isLarge && !soak ? kinds.filter((_kind, index) => index % 5 === 0) : kinds
      await expectNoHarm(fault, 500_000, { isWhole: true, of })
    },
    3_600_000,
  )
})

describe('orders of more that goes wrong, as many as time allows', () => {
  const all: Partial<Scenario> = { crashes: 2, pauses: 2, lostReplies: 2, signIns: 1, signOuts: 1, calls: 2 }
  it.each<[string, Partial<Scenario>, number]>([
    ['two processes with 2 crashes, 2 pauses, 2 lost replies, a sign-in and a sign-out', all, 300_000],
    ['two processes and a store that fails as well', { ...all, storeFailures: 3 }, 16_000],
    [
      'three processes, a crash, a pause and a lost reply',
      { processes: 3, crashes: 1, pauses: 1, lostReplies: 1 },
      230_000,
    ],
    ['three processes with a sign-in and a sign-out', { processes: 3, signIns: 1, signOuts: 1, pauses: 1 }, 16_000],
  ])(
    'does no harm to %s',
    async (_name, world, states) => {
      const bound = soak ? 100_000 : Math.ceil(states / kinds.length)
      expect(await expectNoHarm(world, bound)).toBeGreaterThanOrEqual(soak ? 1_000_000 : states)
    },
    3_600_000,
  )
})

describe('each rule is needed', () => {
  it.each(mutants)('without $takenOut: $harm', async ({ rules: changed, storeOf, world, harm }) => {
    const mutant: Scenario = { ...calm, ...world, rules: { ...rules, ...changed }, ...(storeOf && { storeOf }) }
    expect((await explore(mutant, 20_000)).violation?.verdict).toBe(harm)
  })
})
