/** Why an account is signed out: each cause happens for real, and is named. */
import { expect, test } from '@jest/globals'
import { copyTokenSets } from '@owner-sso/core'
import { type Deployment, deploy, type DeploymentOptions } from './deployment/deployment.ts'
import { machine, machinesWork } from './deployment/hosts.ts'
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
import { fileRow, redisRow, storeRows, type StoreRow } from './deployment/stores.ts'
import type { Worker } from './deployment/worker.ts'

const day = 24 * hour

/** Whom it is asked for what, where that is not the first process and the account. */
type Asked = void | { readonly worker?: Worker; readonly name?: string }

interface Staged {
  readonly name: string
  readonly cause: string
  readonly sure?: true
  readonly options?: Partial<DeploymentOptions>
  readonly happens: (deployment: Deployment) => Promise<Asked>
}

/** A key of its own in the record's file. */
const sealedRow: StoreRow = {
  name: 'sealed file store',
  async make() {
    const { settings, remove } = await fileRow.make()
    return { settings: { ...settings, key: [...new Uint8Array(32)] }, remove }
  },
}

const staged: readonly Staged[] = [
  {
    name: 'another client with a copied refresh token',
    cause: 'spent-elsewhere',
    async happens(deployment) {
      await hoursOfCalls(deployment, 12)
      expect(await refreshElsewhere(deployment)).toBe(200)
      await hoursOfCalls(deployment, 7)
    },
  },
  {
    name: 'a copied file store on a second machine, which is asked',
    cause: 'copied-store',
    options: { processes: 1, hosts: [machine('nas'), machine('server')] },
    async happens(deployment) {
      await hoursOfCalls(deployment, 9)
      const worker = await deployment.start({ store: copied(deployment.store) })
      await deployment.worker(0).refresh(owner)
      await worker.refresh(owner).catch(() => undefined)
      return { worker }
    },
  },
  {
    name: 'a copied file store on a second machine, where the first is asked',
    cause: 'spent-elsewhere',
    options: { processes: 1, hosts: [machine('nas'), machine('server')] },
    async happens(deployment) {
      await hoursOfCalls(deployment, 9)
      const copy = await deployment.start({ store: copied(deployment.store) })
      await copy.refresh(owner)
      await deployment
        .worker(0)
        .refresh(owner)
        .catch(() => undefined)
    },
  },
  {
    name: 'a restored backup',
    cause: 'restored-backup',
    async happens(deployment) {
      await hoursOfCalls(deployment, 20)
      const backup = copied(deployment.store)
      await hoursOfCalls(deployment, 24)
      await replaceAll(deployment)
      await putBack(deployment.store, backup)
      await hoursOfCalls(deployment, 1)
    },
  },
  {
    name: 'two stores for one account',
    cause: 'two-stores',
    async happens(deployment) {
      const store = { ...copied(deployment.store) }
      await empty(store)
      await copyTokenSets(fileStoreAt(deployment.store), fileStoreAt(store))
      const worker = await deployment.start({ store })
      await deployment.worker(0).refresh(owner)
      await worker.refresh(owner).catch(() => undefined)
      return { worker }
    },
  },
  {
    name: 'a refresh token that was brought along, and is used where it came from',
    cause: 'two-stores',
    async happens(deployment) {
      const { refresh_token } = await deployment.tokens(owner)
      await deployment.worker(0).signOut(owner)
      await deployment.worker(0).signIn(owner, { refresh_token })
      await refreshElsewhere(deployment)
      await deployment.worker(0).ask(owner)
    },
  },
  {
    name: 'the password changed',
    cause: 'ended-at-service',
    async happens(deployment) {
      await hoursOfCalls(deployment, 9)
      await deployment.worker(0).call(owner, deployment.emulator.ownerApiUrl, 1)
      deployment.emulator.applyScenario('sessions-ended')
      await deployment.pass(hour)
      await deployment.worker(0).call(owner, deployment.emulator.ownerApiUrl, 1)
    },
  },
  {
    name: 'idle for 91 days',
    cause: 'idle',
    options: { emulator: { refreshTokenLifetime: 90 * day } },
    async happens(deployment) {
      await hoursOfCalls(deployment, 9)
      await deployment.pass(91 * day)
      await deployment.ask(1, owner)
    },
  },
  {
    name: 'signed out elsewhere, by another process',
    cause: 'signed-out',
    sure: true,
    async happens(deployment) {
      await hoursOfCalls(deployment, 2)
      await deployment.worker(1).signOut(owner)
    },
  },
  {
    name: 'signed out elsewhere, at the service',
    cause: 'ended-at-service',
    async happens({ emulator, ...deployment }) {
      await deployment.worker(0).call(owner, emulator.ownerApiUrl, 1)
      emulator.revokeAccessTokens(owner)
      emulator.expireRefreshTokens(owner)
      await deployment.pass(hour)
      await deployment.worker(0).call(owner, emulator.ownerApiUrl, 1)
    },
  },
  {
    name: 'the holder killed with the answer in flight',
    cause: 'holder-gone',
    async happens(deployment) {
      await deployment.expire()
      await killInFlight(deployment)
      await deployment.pass(60)
      await deployment.worker(0).ask(owner)
    },
  },
  {
    name: 'the answer lost by the network',
    cause: 'answer-lost',
    async happens(deployment) {
      await deployment.expire()
      deployment.emulator.once('refresh', { drop: 'after-commit' })
      await deployment.worker(0).ask(owner)
      await hoursOfCalls(deployment, 1)
    },
  },
  {
    name: 'the answer lost by the network, and not asked for again yet',
    cause: 'answer-lost',
    sure: true,
    async happens(deployment) {
      await deployment.pass(7 * hour)
      deployment.emulator.once('refresh', { drop: 'after-commit' })
      await deployment.worker(0).ask(owner)
      await deployment.calm()
    },
  },
  {
    name: 'the service down over the end',
    cause: 'unreachable',
    sure: true,
    async happens(deployment) {
      deployment.emulator.applyScenario('service-down')
      await hoursOfCalls(deployment, 10)
    },
  },
  {
    name: 'no connection over the end',
    cause: 'unreachable',
    sure: true,
    async happens(deployment) {
      deployment.emulator.always('refresh', { drop: 'before-commit' })
      await hoursOfCalls(deployment, 10)
    },
  },
  {
    name: 'the firewall for a day',
    cause: 'firewall',
    sure: true,
    async happens(deployment) {
      deployment.emulator.always('refresh', { firewall: true })
      await hoursOfCalls(deployment, 24)
    },
  },
  {
    name: 'a clock that is wrong by an hour',
    cause: 'clocks',
    sure: true,
    async happens(deployment) {
      await deployment.worker(1).move({ wall: hour * 1000 })
      await deployment.worker(1).refresh(owner)
      await deployment.pass(300)
      await deployment.worker(0).refresh(owner)
    },
  },
  {
    name: 'the key of the store changed',
    cause: 'store-key',
    sure: true,
    options: { store: sealedRow },
    async happens(deployment) {
      const store = { ...deployment.store, key: [...new Uint8Array(32).fill(1)] }
      return { worker: await deployment.start({ store }) }
    },
  },
  {
    name: 'FLUSHALL, and nobody remembers',
    cause: 'nothing-stored',
    sure: true,
    options: { store: storeRows.includes(redisRow) ? redisRow : fileRow },
    async happens(deployment) {
      await replaceAll(deployment)
      await empty(deployment.store)
    },
  },
  {
    name: 'FLUSHALL, and a process put back what it knew',
    cause: 'store-set-back',
    sure: true,
    options: { store: storeRows.includes(redisRow) ? redisRow : fileRow },
    async happens(deployment) {
      await deployment.ask(1, owner)
      await empty(deployment.store)
      await deployment.worker(0).status(owner)
    },
  },
  {
    name: 'an older release',
    cause: 'older-release',
    sure: true,
    async happens(deployment) {
      await refreshElsewhere(deployment)
      await endAsOlderRelease(deployment)
    },
  },
  {
    name: 'refused tokens twice in a row',
    cause: 'refreshed-tokens-refused',
    sure: true,
    async happens(deployment) {
      deployment.emulator.applyScenario('refreshed-tokens-refused')
      for (let refreshes = 0; refreshes < 2; refreshes += 1) {
        await deployment.pass(hour)
        await deployment.worker(0).refresh(owner)
        await deployment.worker(0).call(owner, deployment.emulator.ownerApiUrl, 1)
      }
    },
  },
  {
    name: 'a client secret changed',
    cause: 'client-rejected',
    sure: true,
    async happens(deployment) {
      deployment.emulator.applyScenario('client-rejected')
      await hoursOfCalls(deployment, 9)
    },
  },
  {
    name: 'a sign-in as somebody else',
    cause: 'other-owner',
    sure: true,
    async happens(deployment) {
      const { refresh_token } = await deployment.tokens('mfa@example.com')
      await deployment.worker(0).signOut(owner)
      await deployment.worker(0).signIn(owner, { refresh_token })
      await deployment.worker(0).ask(owner)
    },
  },
  {
    name: 'a wrong region',
    cause: 'wrong-region',
    sure: true,
    async happens(deployment) {
      const name = 'regional@example.com'
      await deployment.signIn(name, name)
      const service = { authUrl: deployment.emulator.authUrl, regionalAuthUrls: [] }
      const worker = await deployment.start({ service })
      await deployment.pass(9 * hour)
      await worker.ask(name)
      return { worker, name }
    },
  },
  {
    name: 'nothing at all: it is signed in',
    cause: 'signed-in',
    happens: (deployment) => hoursOfCalls(deployment, 30),
  },
]

const possible = staged.filter(({ options }) => machinesWork || options?.hosts === undefined)
test.each(possible)('$name: $cause', async ({ cause, sure = false, options, happens }) => {
  const deployment = await deploy({ store: fileRow, processes: 2, ...options })
  await deployment.signIn(owner, owner)
  const { worker = deployment.worker(0), name = owner } = (await happens(deployment)) ?? {}
  const history = await worker.history(name)
  expect({ ...history.why, events: history.events }).toMatchObject({ cause, sure })
  // Tokens are longer than any word of a history.
  expect(JSON.stringify(history)).not.toMatch(/[\w.-]{40,}/u)
})
