/** A process is cut off from the store after its intent: its new tokens wait in the spool, and any other carries them over. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { fileTokenStore } from '@owner-sso/token-store-file'
import { describeWithRedis, startRedis } from '../../support/redis-server.ts'
import { account, atEnd, deploy, type Deployment, life } from './deployment/deployment.ts'
import { gate, until } from './deployment/figures.ts'
import { redisOn } from './deployment/stores.ts'
import { startSwitchboard, type Switchboard } from './deployment/switchboard.ts'
import { startWorker, type Worker } from './deployment/worker.ts'

describeWithRedis('new tokens that Redis did not take', () => {
  test('E8: survive kill -9 of the process that was cut off, and the session with them', async () => {
    const { deployment, holder, cutOff, spool } = await partition()
    const token = await refreshWhileCutOff(deployment, holder, cutOff)
    await holder.signal('SIGKILL')
    // Its intent says that the token may be spent, and it is provably dead: without the spool it would be replayed now.
    const { tokens, failures } = await deployment.ask(10)
    expect({ tokens: Object.keys(tokens), failures }).toEqual({ tokens: [token], failures: {} })
    await sessionIsAlive(deployment)
    expect((await fileTokenStore({ path: spool }).read(account))?.record).toEqual({ schema: 1, state: 'spooled' })
    expect(filesBelow(spool).join('\n')).not.toMatch(/_token/u)
  })

  test('are carried over by the process that is started next, though nobody asks it for them', async () => {
    const { deployment, holder, cutOff, spool } = await partition({ sharesSpool: false })
    const token = await refreshWhileCutOff(deployment, holder, cutOff)
    await holder.signal('SIGKILL')
    const next = await started({ ...settingsOf(deployment), spool: { kind: 'file', path: spool } })
    await next.reported(({ event }) => event === 'carried-over')
    // Another machine, without that folder.
    expect(Object.keys((await deployment.ask(1)).tokens)).toEqual([token])
    await sessionIsAlive(deployment)
  })

  test('let their process leave at once: settled() is content with the spool', async () => {
    const { deployment, holder, cutOff } = await partition()
    const token = await refreshWhileCutOff(deployment, holder, cutOff)
    expect(await holder.signal('SIGTERM')).toBe(0)
    expect(Object.keys((await deployment.ask(1)).tokens)).toEqual([token])
    await sessionIsAlive(deployment)
  })

  test('reach Redis from their own process as well, once it is back, and leave the spool', async () => {
    const { deployment, holder, cutOff, spool, reconnect } = await partition({ sharesSpool: false })
    const token = await refreshWhileCutOff(deployment, holder, cutOff)
    reconnect()
    await holder.reached('after-result')
    expect(Object.keys((await deployment.ask(1)).tokens)).toEqual([token])
    await until(() => !/_token/u.test(filesBelow(spool).join('\n')))
    await sessionIsAlive(deployment)
  })
})

interface Partition {
  readonly deployment: Deployment
  /** A process with a connection to Redis of its own. */
  readonly holder: Worker
  readonly cutOff: () => void
  readonly reconnect: () => void
  /** The folder of the spool. */
  readonly spool: string
}

/** One process of a deployment, and one that can be cut off from Redis; the account is signed in, its token has expired. */
async function partition({ sharesSpool = true } = {}): Promise<Partition> {
  const redis = await startRedis()
  atEnd(redis.stop)
  const switchboard: Switchboard = await startSwitchboard(redis.port)
  atEnd(switchboard.close)
  const folder = mkdtempSync(join(tmpdir(), 'owner-sso-spool-'))
  atEnd(async () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }))
  const spool = { kind: 'file', path: join(folder, 'spool') } as const
  const deployment = await deploy({
    store: redisOn(redis),
    processes: 1,
    emulator: { reuse: 'revoke-family' },
    manager: sharesSpool ? { spool } : {},
  })
  const holder = await started({ ...settingsOf(deployment), url: `redis://127.0.0.1:${switchboard.port}`, spool })
  await deployment.signIn()
  await deployment.expire()
  await holder.move({ wall: life * 1000, monotonic: life * 1000 })
  return {
    deployment,
    holder,
    spool: spool.path,
    cutOff: () => switchboard.cutOff(),
    reconnect: () => switchboard.connectTo(redis.port),
  }
}

const settingsOf = ({ emulator, store }: Deployment) => ({
  authUrl: emulator.authUrl,
  url: store.kind === 'redis' ? store.url : '',
})

async function started(settings: {
  readonly authUrl: string
  readonly url: string
  readonly spool: { readonly kind: 'file'; readonly path: string }
}): Promise<Worker> {
  const worker = startWorker()
  atEnd(async () => void (await worker.signal('SIGKILL')))
  await worker.open({
    service: { authUrl: settings.authUrl },
    manager: { spool: settings.spool },
    store: { kind: 'redis', url: settings.url, prefix: 'owner-sso:' },
    clocks: { wall: 0, monotonic: 0 },
  })
  return worker
}

/** The holder's request is with the service when it loses Redis. Returns the new token, which it alone has. */
async function refreshWhileCutOff({ emulator }: Deployment, holder: Worker, cutOff: () => void): Promise<string> {
  const { opened, open } = gate()
  emulator.once('refresh', { hold: opened, commit: 'after' })
  const asked = holder.ask(account)
  await until(() => emulator.counters.tokenRefreshes === 1)
  cutOff()
  open()
  expect(await holder.reported(({ event }) => event === 'unsaved')).toMatchObject({ spooled: true })
  const { tokens, failures } = await asked
  expect({ callers: Object.values(tokens), failures }).toEqual({ callers: [1], failures: {} })
  return Object.keys(tokens)[0] ?? ''
}

/** The refresh token in the store is the family's newest: it brings another access token. */
async function sessionIsAlive(deployment: Deployment): Promise<void> {
  await deployment.expire()
  expect((await deployment.ask(10)).failures).toEqual({})
  expect(deployment.emulator.counters).toMatchObject({ tokenRefreshes: 2, refreshRequests: 2, replays: 0 })
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))
}
