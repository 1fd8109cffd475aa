/** Sixty histories in which one thing happens after the other, at random: no cause is named surely that is not so. */
import { expect, test } from '@jest/globals'
import { deploy, type Deployment } from './deployment/deployment.ts'
import { figure, seededRandom } from './deployment/figures.ts'
import {
  copied,
  empty,
  endAsOlderRelease,
  fileStoreAt,
  hour,
  hoursOfCalls,
  killInFlight,
  owner,
  putBack,
  refreshElsewhere,
  replaceAll,
} from './deployment/incidents.ts'
import { fileRow } from './deployment/stores.ts'

/** Until when a cause is one: a sign-in, a refresh that brought tokens, or for ever. */
type Until = 'sign-in' | 'refresh' | 'ever'

/** What is so by what happened, whatever anybody tells. */
type Truth = Map<string, Until>

interface World {
  readonly deployment: Deployment
  readonly truth: Truth
  readonly random: () => number
}

interface Incident {
  readonly name: string
  /** The account has to be signed in before, or nothing would come of it. */
  readonly needsSession: boolean
  /** No refresh brings tokens in it, whatever was before. */
  readonly isOutage?: true
  readonly happens: (world: World) => Promise<void>
}

/** The service answers refreshes so for some hours in which everybody calls; then it is well. */
const atService =
  (causes: readonly string[], begin: (emulator: Deployment['emulator']) => void, until: Until = 'refresh') =>
  async ({ deployment, truth, random }: World): Promise<void> => {
    begin(deployment.emulator)
    const before = refreshesAt(deployment)
    await hoursOfCalls(deployment, 1 + Math.floor(random() * 9))
    if (refreshesAt(deployment) > before) for (const cause of causes) truth.set(cause, until)
    deployment.emulator.always('refresh', undefined)
  }
/** Refreshes that were sent, whatever became of them. */
const refreshesAt = ({ emulator }: Deployment): number =>
  emulator.requests.filter(({ path }) => path.endsWith('/token')).length

const calls: Incident = {
  name: 'calls',
  needsSession: false,
  happens: async ({ deployment, random }) => hoursOfCalls(deployment, 1 + Math.floor(random() * 9)),
}

const incidents: readonly [Incident, ...Incident[]] = [
  calls,
  {
    name: 'nobody calls',
    needsSession: false,
    happens: async ({ deployment, random }) => deployment.pass(Math.floor(random() * 40) * hour),
  },
  { name: 'a sign-in', needsSession: false, happens: signIn },
  {
    name: 'another client',
    needsSession: true,
    happens: async ({ deployment }) => void (await refreshElsewhere(deployment)),
  },
  {
    name: 'a changed password',
    needsSession: false,
    happens: async ({ deployment }) => deployment.emulator.applyScenario('sessions-ended'),
  },
  {
    name: 'a sign-out',
    needsSession: true,
    async happens({ deployment, truth }) {
      await deployment.worker(1).signOut(owner)
      truth.set('signed-out', 'sign-in')
    },
  },
  {
    name: 'a lost answer',
    needsSession: true,
    async happens({ deployment, truth }) {
      deployment.emulator.once('refresh', { drop: 'after-commit' })
      const before = refreshesAt(deployment)
      await hoursOfCalls(deployment, 7)
      if (refreshesAt(deployment) > before) truth.set('answer-lost', 'refresh')
    },
  },
  {
    name: 'a killed holder',
    needsSession: true,
    async happens({ deployment }) {
      await deployment.expire()
      await killInFlight(deployment)
    },
  },
  {
    name: 'a service that is down',
    needsSession: true,
    isOutage: true,
    happens: atService(['unreachable'], ({ always }) => always('refresh', { status: 503 })),
  },
  {
    name: 'no connection',
    needsSession: true,
    isOutage: true,
    happens: atService(['unreachable', 'answer-lost'], ({ always }) => always('refresh', { drop: 'before-commit' })),
  },
  {
    name: 'the firewall',
    needsSession: true,
    isOutage: true,
    // A process remembers a block for a while, whatever another one gets.
    happens: atService(['firewall'], ({ always }) => always('refresh', { firewall: true }), 'sign-in'),
  },
  {
    name: 'a refused client',
    needsSession: true,
    isOutage: true,
    happens: atService(['client-rejected'], (emulator) => emulator.applyScenario('client-rejected')),
  },
  {
    name: 'refused tokens',
    needsSession: true,
    async happens({ deployment, truth }) {
      const { emulator } = deployment
      emulator.applyScenario('refreshed-tokens-refused')
      for (let refreshes = 0; refreshes < 2; refreshes += 1) {
        await deployment.pass(hour)
        await deployment
          .worker(0)
          .refresh(owner)
          .catch(() => undefined)
        await deployment.worker(0).call(owner, emulator.ownerApiUrl, 1)
      }
      truth.set('refreshed-tokens-refused', 'ever')
      emulator.change({ refreshedTokens: undefined })
    },
  },
  {
    name: 'a store that is emptied',
    needsSession: false,
    async happens({ deployment, truth, random }) {
      const isForgotten = random() < 0.5
      if (isForgotten) await replaceAll(deployment)
      await empty(deployment.store)
      truth.set('store-set-back', 'refresh')
    },
  },
  {
    name: 'a restored backup',
    needsSession: true,
    async happens({ deployment, truth, random }) {
      const backup = copied(deployment.store)
      await hoursOfCalls(deployment, 5 + Math.floor(random() * 10))
      const isForgotten = random() < 0.7
      if (isForgotten) await replaceAll(deployment)
      await putBack(deployment.store, backup)
      if (!isForgotten) truth.set('store-set-back', 'refresh')
    },
  },
  {
    name: 'a wrong clock',
    needsSession: true,
    async happens({ deployment, truth, random }) {
      const by = (random() < 0.5 ? -1 : 1) * hour * 1000
      await deployment.worker(1).move({ wall: by })
      await deployment
        .worker(1)
        .refresh(owner)
        .catch(() => undefined)
      await deployment.pass(300)
      await deployment
        .worker(0)
        .refresh(owner)
        .catch(() => undefined)
      await deployment.worker(1).move({ wall: -by })
      truth.set('clocks', 'ever')
    },
  },
  {
    name: 'an older release',
    needsSession: true,
    async happens({ deployment, truth }) {
      await refreshElsewhere(deployment)
      await endAsOlderRelease(deployment)
      truth.set('older-release', 'sign-in')
    },
  },
  {
    name: 'somebody else’s tokens',
    needsSession: false,
    async happens({ deployment, truth }) {
      const { refresh_token } = await deployment.tokens('mfa@example.com')
      await deployment.worker(0).signOut(owner)
      await deployment.worker(0).signIn(owner, { refresh_token })
      truth.clear()
      await deployment.worker(0).ask(owner)
      truth.set('other-owner', 'sign-in')
    },
  },
]

async function signIn({ deployment, truth }: World): Promise<void> {
  await deployment.signIn(owner, owner)
  for (const [cause, until] of truth) if (until !== 'ever') truth.delete(cause)
}

const histories = figure(10, 100)
const chance = seededRandom()
const sure = new Set<string>()

test.each([1, 2, 3, 4, 5, 6])(
  'of sixty histories, part %d of six has no cause named surely that is not so',
  async () => {
    const wrong: object[] = []
    for (let history = 0; history < histories; history += 1) {
      const deployment = await deploy({ store: fileRow, processes: 2 })
      const world: World = { deployment, truth: new Map(), random: chance }
      await signIn(world)
      const happened: string[] = []
      const some = Array.from({ length: 2 + Math.floor(chance() * 5) }, () => anyOf(incidents, chance))
      // Most are asked about once somebody has met what happened.
      for (const incident of [...some, ...(chance() < 0.7 ? [calls] : [])]) {
        const { state } = await deployment.worker(0).status(owner)
        if (incident.needsSession && state !== 'valid' && state !== 'expired') await signIn(world)
        for (const worker of deployment.workers) worker.forget()
        const before = new Map(world.truth)
        await incident.happens(world)
        await deployment.calm()
        happened.push(incident.name)
        const isRefreshed = deployment.workers.some(({ reports }) => reports.some(({ event }) => event === 'refreshed'))
        if (isRefreshed && incident.isOutage !== true) cure(world.truth, before)
      }
      const { why, events } = await deployment.worker(Math.floor(chance() * 2)).history(owner)
      if ((await fileStoreAt(deployment.store).read(owner)) === undefined) world.truth.set('nothing-stored', 'ever')
      if (why.sure) sure.add(why.cause)
      if (why.sure && !world.truth.has(why.cause)) wrong.push({ happened, truth: [...world.truth], why, events })
    }
    expect(wrong).toEqual([])
  },
)

test('neither do they say nothing', () => {
  expect(sure.size).toBeGreaterThan(5)
})

const anyOf = <Value>(values: readonly [Value, ...Value[]], random: () => number): Value =>
  values[Math.floor(random() * values.length)] ?? values[0]

/** What had failed before has succeeded since. */
function cure(truth: Truth, before: Truth): void {
  for (const [cause, until] of before) if (until === 'refresh') truth.delete(cause)
}
