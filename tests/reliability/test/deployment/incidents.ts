/** What happens to accounts, each done for real: at the service, to the store, or to a process. */
import { cpSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { atEnd, type Deployment } from './deployment.ts'
import { gate, until } from './figures.ts'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { createClient } from 'redis'
import type { TokenRecord, TokenStore } from '@owner-sso/core'
import type { StoreSettings } from './stores.ts'

/** The account, by its e-mail: whose tokens are saved for it is looked at. */
export const owner = 'plain@example.com'

export const hour = 3600

/** So many hours in which every process calls now and then. */
export async function hoursOfCalls(deployment: Deployment, hours: number): Promise<void> {
  for (let passed = 0; passed < hours; passed += 1) {
    await deployment.pass(hour)
    await deployment.ask(1, owner)
    await deployment.calm()
  }
}

/** A refresh by somebody who has nothing of ours but a copy of the refresh token. */
export async function refreshElsewhere({ emulator, store }: Deployment): Promise<number> {
  const record = await recordIn(store)
  const { status } = await fetch(new URL('/oauth2/v3/token', emulator.authUrl), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      grant_type: 'refresh_token',
      client_id: 'ownerapi',
      refresh_token: record.state === 'signed-in' ? record.tokens.refresh_token : '',
      scope: 'openid email offline_access',
    }),
  })
  return status
}

/** The release before the history: it finds the refresh token dead, and writes the fields that it knows. */
export async function endAsOlderRelease(deployment: Deployment): Promise<void> {
  const store = fileStoreAt(deployment.store)
  const stored = await store.read(owner)
  const { history: _, intent: __, ...known } = { history: '', intent: undefined, ...(await recordIn(deployment.store)) }
  if ((await refreshElsewhere(deployment)) !== 400) throw new Error('The refresh token works.')
  const record = { ...known, state: 'reauthentication-required', reason: 'refresh_token_rejected' }
  await store.swap(owner, stored?.version ?? 0, asRecord(record), 'frozen')
}

/** A process asks, and is killed while the answer is on its way to it, if the service has one. */
export async function killInFlight(deployment: Deployment): Promise<void> {
  const { emulator } = deployment
  const victim = deployment.worker(0)
  const { opened, open } = gate()
  const before = emulator.counters.refreshRequests
  emulator.once('refresh', { commit: 'after', hold: opened })
  let isAnswered = false
  const asked = victim.ask(owner).then(
    () => (isAnswered = true),
    () => (isAnswered = true),
  )
  await until(() => emulator.counters.refreshRequests > before || isAnswered)
  await deployment.replace(victim)
  await asked
  open()
}

/** What they held in memory is gone. */
export async function replaceAll(deployment: Deployment): Promise<void> {
  for (const worker of deployment.workers) await deployment.replace(worker)
}

/** Empties the store under all who use it. */
export async function empty(store: StoreSettings): Promise<void> {
  if (store.kind === 'redis') {
    const client = await createClient({ url: store.url }).connect()
    await client.flushAll()
    client.destroy()
  } else if (store.kind === 'file') {
    for (const name of readdirSync(store.path)) rmSync(join(store.path, name), { recursive: true, force: true })
  }
}

/** A copy of a file store beside it. */
export function copied(store: StoreSettings): StoreSettings & { readonly kind: 'file' } {
  const path = `${pathOf(store)}-copy`
  atEnd(async () => rmSync(path, { recursive: true, force: true }))
  cpSync(pathOf(store), path, { recursive: true })
  return { kind: 'file', path }
}

/** The store is as its copy is. */
export async function putBack(store: StoreSettings, copy: { readonly path: string }): Promise<void> {
  await empty(store)
  cpSync(copy.path, pathOf(store), { recursive: true })
}

export function fileStoreAt(store: StoreSettings): TokenStore {
  return fileTokenStore({ path: pathOf(store) })
}

async function recordIn(store: StoreSettings): Promise<TokenRecord> {
  const stored = await fileStoreAt(store).read(owner)
  if (stored === undefined) throw new Error('Nothing is stored.')
  return stored.record
}

function pathOf(store: StoreSettings): string {
  if (store.kind !== 'file') throw new Error('This is no file store.')
  return store.path
}

const asRecord = (fields: object): TokenRecord => JSON.parse(JSON.stringify(fields))
