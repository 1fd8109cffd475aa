/** B-A A6: sign-ins, sign-outs and refreshes of several processes in every order that chance brings. */
import { describe, expect, test } from '@jest/globals'
import { account, deploy, type Deployment } from './deployment/deployment.ts'
import { figure, seededRandom } from './deployment/figures.ts'
import { storeRows } from './deployment/stores.ts'

const random = seededRandom()
const below = (end: number): number => Math.floor(random() * end)

describe.each(storeRows)('$name', (store) => {
  test('A6: a newer sign-in is never overwritten by an older one’s refresh, and no sign-out is undone', async () => {
    const deployment = await deploy({ store, processes: 3, emulator: { reuse: 'revoke-family' } })
    const { emulator } = deployment
    const owners = await ownersOf(deployment)
    for (let schedule = 0; schedule < figure(20 / storeRows.length, 500); schedule += 1) {
      await deployment.signIn(account, 'plain@example.com')
      await deployment.expire()
      emulator.always('refresh', { delay: below(25), commit: random() < 0.5 ? 'before' : 'after' })
      const last = await shuffle(deployment)
      await deployment.calm()
      emulator.always('refresh', undefined)

      // Whatever they knew: after the life of every access token all have to look at the store.
      await deployment.expire()
      const { owners: held, failures } = await deployment.ask(5)
      expect({ held, failures }).toEqual(
        last === undefined
          ? { held: [], failures: { ERR_SSO_SIGNED_OUT: 15 } }
          : { held: [owners.get(last)], failures: {} },
      )
    }
    expect(emulator.counters.replays).toBe(0)
  })
})

const identities = ['plain@example.com', 'mfa@example.com'] as const

/** What stands in a token of each of the service's accounts, by which the sign-ins are told apart. */
async function ownersOf(deployment: Deployment): Promise<Map<string, string | undefined>> {
  const owners = new Map<string, string | undefined>()
  for (const identity of identities) {
    await deployment.signIn(account, identity)
    owners.set(identity, (await deployment.worker(0).ask(account)).owners[0])
  }
  return owners
}

/**
 * A handful of sign-ins and sign-outs one after the other, each by any process, while all refresh beside.
 *
 * @returns who signed in last; `undefined` after a sign-out
 */
async function shuffle(deployment: Deployment): Promise<string | undefined> {
  const beside: Promise<unknown>[] = []
  let last: string | undefined = 'plain@example.com'
  for (let step = 0; step < 2 + below(4); step += 1) {
    const asking = deployment.workers.filter(() => random() < 0.6)
    // How these calls end depends on the schedule; what counts is what stands afterwards.
    for (const worker of asking) {
      beside.push(random() < 0.5 ? worker.ask(account, 3) : worker.refresh(account).catch(() => undefined))
    }
    await new Promise((resolve) => setTimeout(resolve, below(30)))
    const worker = deployment.worker(below(3))
    const identity = identities[below(3)]
    if (identity === undefined) await worker.signOut(account)
    else await worker.signIn(account, await deployment.tokens(identity))
    last = identity
  }
  await Promise.all(beside)
  return last
}
