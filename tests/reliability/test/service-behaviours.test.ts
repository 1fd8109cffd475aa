/** B-H: each behaviour of a service, over the stores in turn, undisturbed, with a crash and with a pause: one documented outcome. */
import { describe, expect, test } from '@jest/globals'
import { account, deploy, type Deployment, life } from './deployment/deployment.ts'
import { gate, until } from './deployment/figures.ts'
import { storesOf } from './deployment/stores.ts'
import type { Worker } from './deployment/worker.ts'
import { type Behaviour, behaviours, type Outcome } from './service-behaviours.ts'

const scenarios = behaviours.flatMap((behaviour, index) =>
  storesOf(index).map((store) => ({ name: `${behaviour.name}, ${store.name}`, behaviour, store })),
)

describe.each(scenarios)('a service that $name', ({ behaviour, store }) => {
  const begin = async (): Promise<Deployment> => {
    const deployment = await deploy({ store, processes: 2, emulator: behaviour.emulator ?? {} })
    const { identity = 'plain@example.com', login } = behaviour
    if (login) await deployment.worker(0).logIn(account, { identity, credential: 'correct horse' })
    else await deployment.signIn(account, identity)
    await deployment.ask(1)
    return deployment
  }

  test('undisturbed', async () => {
    const deployment = await begin()
    await makeDue(deployment, behaviour)
    if (behaviour.fault) deployment.emulator.once('refresh', behaviour.fault)
    await deployment.ask(3)
    expect(await ending(deployment)).toEqual(behaviour.ok)
  })

  test('whose client is killed before it hears the answer', async () => {
    const deployment = await begin()
    await makeDue(deployment, behaviour)
    const open = await requestHeld(deployment, behaviour)
    await deployment.worker(0).signal('SIGKILL')
    open()
    await deployment.ask(3)
    expect(await ending(deployment)).toEqual(behaviour.crash)
  })

  test('whose client is stopped before it hears the answer', async () => {
    const deployment = await begin()
    const [holder, other] = deployment.workers as [Worker, Worker]
    if (!behaviour.revoked) await deployment.pass(0.85 * life)
    await revokeIf(deployment, behaviour)
    const open = await requestHeld(deployment, behaviour)
    holder.stop()
    open()
    other.forget()
    const asked = other.ask(account, 3)
    await other.reached('read')
    await deployment.pass(130, [holder])
    await asked
    holder.continue()
    await holder.move({ wall: 130_000, monotonic: 130_000 })
    await deployment.calm()
    // What was left in doubt is settled shortly before the access token's end.
    await deployment.pass(0.15 * life - 130 - 60)
    await deployment.ask(3)
    await deployment.calm()
    await deployment.pass(60)
    expect(await ending(deployment)).toEqual(behaviour.pause)
  })
})

/** The access token has to be replaced: its life is over, or the owner API refuses it. */
async function makeDue(deployment: Deployment, behaviour: Behaviour): Promise<void> {
  if (!behaviour.revoked) await deployment.expire()
  await revokeIf(deployment, behaviour)
}

async function revokeIf({ emulator, workers }: Deployment, { revoked, identity }: Behaviour): Promise<void> {
  if (!revoked) return
  emulator.revokeAccessTokens(identity ?? 'plain@example.com')
  const url = new URL('/api/1/vehicles', emulator.ownerApiUrl)
  for (const worker of workers) await worker.useOwnerApi(account, url, 2)
}

/** The first worker refreshes; its request is with the service, which has done all it would do. Returns what lets it answer. */
async function requestHeld({ emulator, worker }: Deployment, { fault }: Behaviour): Promise<() => void> {
  const { opened, open } = gate()
  const inPlace = fault?.status !== undefined && fault.commit === undefined
  const { counters, requests } = emulator
  const before = inPlace ? requests.length : counters.tokenRefreshes
  emulator.once('refresh', { ...(!inPlace && { commit: 'after' }), ...fault, hold: opened })
  worker(0)
    .ask(account)
    .catch(() => undefined)
  await until(() => (inPlace ? requests.length : counters.tokenRefreshes) > before)
  return open
}

/** What callers get once all have heard of it, and rested where a rest was due. */
async function ending(deployment: Deployment): Promise<Outcome> {
  await deployment.calm()
  await deployment.pass(120)
  await deployment.ask(3)
  const { tokens, failures } = await deployment.ask(3)
  const endings = [...Object.keys(tokens).map(() => 'token'), ...Object.keys(failures)]
  const { tokenRefreshes, replays } = deployment.emulator.counters
  return [endings.join(' and '), tokenRefreshes, replays]
}
