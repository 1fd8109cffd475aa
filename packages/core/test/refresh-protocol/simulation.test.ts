/**
 * The real token manager in a simulated world: every order of things, and each rule taken out in turn.
 *
 * `OWNER_SSO_SOAK=1` looks at far more states.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { rules } from '../../src/refresh-protocol/rules.ts'
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

async function expectNoHarm(world: Partial<Scenario>, bound: number, seed = 1): Promise<boolean> {
  const { violation, complete } = await explore({ ...calm, ...world, rules }, bound, seed)
  expect({ world, violation }).toEqual({ world, violation: undefined })
  return complete
}

describe('every order of two processes', () => {
  const faults: [string, Partial<Scenario>][] = [
    ['nothing going wrong', {}],
    ['lost replies', { lostReplies: 2 }],
    ['a crash', { crashes: 1 }],
    ['a store operation that fails', { storeFailures: 1 }],
    ['a pause', { pauses: 1 }],
  ]
  if (soak) faults.push(['a sign-in', { signIns: 1 }], ['a sign-out', { signOuts: 1 }])
  for (const [name, fault] of faults) {
    it(`does no harm with ${name}`, async () => {
      for (const rotation of rotations) {
        for (const token of ['expired', 'ageing'] as const) {
          // One of the two does for a pause in the short form: it has the most states.
          const hosts = soak || fault.pauses === undefined ? [false, true] : [rotation === 'family']
          for (const sameHost of hosts) {
            expect(await expectNoHarm({ ...fault, rotation, token, sameHost }, 500_000)).toBe(true)
          }
        }
      }
    }, 3_600_000)
  }
})

describe('orders of more that goes wrong, as many as time allows', () => {
  const all: Partial<Scenario> = { crashes: 2, pauses: 2, lostReplies: 2, signIns: 1, signOuts: 1, calls: 2 }
  const worlds: [string, Partial<Scenario>][] = [
    ['two processes with 2 crashes, 2 pauses, 2 lost replies, a sign-in and a sign-out', all],
    ['two processes and a store that fails as well', { ...all, storeFailures: 3 }],
    ['three processes with a crash, a pause and a lost reply', { processes: 3, crashes: 1, pauses: 1, lostReplies: 1 }],
    ['three processes with a sign-in and a sign-out', { processes: 3, signIns: 1, signOuts: 1, pauses: 1 }],
  ]
  for (const [name, world] of worlds) {
    it(`does no harm to ${name}`, async () => {
      let seed = 1
      for (const rotation of rotations) {
        for (const token of ['expired', 'ageing'] as const) {
          await expectNoHarm({ ...world, rotation, token, sameHost: seed % 2 === 0 }, soak ? 400_000 : 600, (seed += 1))
        }
      }
    }, 3_600_000)
  }
})

describe('each rule is needed', () => {
  it.each(mutants)('without $takenOut: $harm', async ({ rules: changed, storeOf, world, harm }) => {
    const mutant: Scenario = { ...calm, ...world, rules: { ...rules, ...changed }, ...(storeOf && { storeOf }) }
    expect((await explore(mutant, 20_000)).violation?.verdict).toBe(harm)
  })
})
