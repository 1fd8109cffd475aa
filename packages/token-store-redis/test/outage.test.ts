/** B-E E1–E5 as far as a store can show them: whatever becomes of the server, every call ends, and no write is lost or doubled. */
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { type RedisClient, redisTokenStore } from '../src/index.ts'
import { commandDeadline } from '../src/redis-failure.ts'
import { startCuttingProxy } from '../../../tests/support/cutting-proxy.ts'
import { freePort } from '../../../tests/support/free-port.ts'
import { describeWithRedis, type RedisServer, startRedis } from '../../../tests/support/redis-server.ts'
import { nodeRedis, ioRedis } from './redis-clients.ts'
import { account, answerOf, commit, rounds, sample } from '../../../tests/support/store-samples.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
})

const clients: readonly [string, (port: number) => Promise<RedisClient>][] = [
  [
    'node-redis',
    async (port) => {
      const client = await nodeRedis(`redis://127.0.0.1:${port}`)
      cleanUps.push(() => client.destroy())
      return client
    },
  ],
  [
    'ioredis',
    async (port) => {
      const client = ioRedis(port, { retryStrategy: () => 20, maxRetriesPerRequest: null })
      await once(client, 'ready')
      cleanUps.push(() => client.disconnect())
      return client
    },
  ],
]

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))

const unavailable = expect.objectContaining({ code: 'ERR_SSO_STORE', reason: 'unavailable' })

describeWithRedis.each(clients)('over %s', (_name, connect) => {
  test('a server that is killed and comes back (append-only file) has lost nothing', async () => {
    const server = await startRedis('--appendonly', 'yes')
    cleanUps.push(server.stop)
    const store = redisTokenStore({ client: await connect(server.port) })
    let version = 0
    for (let round = 0; round < rounds(10, 100); round += 1) {
      const restart = { isOver: false }
      const restarted = server.restart().then(() => (restart.isOver = true))
      do {
        expect(await commit(store, version, randomUUID())).toBe('saved')
        version += 1
      } while (!restart.isOver)
      await restarted
    }
    expect(await store.read(account)).toMatchObject({ version, record: sample(version) })
  }, 300_000)

  test('a process that was blocked past its own time limit reads the answer that came meanwhile', async () => {
    const server = await startRedis()
    cleanUps.push(server.stop)
    const store = redisTokenStore({ client: await connect(server.port) })
    await commit(store, 0, randomUUID())
    const asked = store.read(account)
    // The command leaves, then nothing runs here for longer than its deadline.
    await new Promise(setImmediate)
    for (const began = performance.now(); performance.now() - began < commandDeadline + 100;);
    expect(await asked).toMatchObject({ version: 1, record: sample(1) })
  })

  test('a stopped server ends in an error, and is used again once it goes on', async () => {
    const server = await startRedis()
    cleanUps.push(server.stop)
    const store = redisTokenStore({ client: await connect(server.port) })
    await store.swap(account, 0, sample(1), 'one')
    server.freeze()
    const calls = await Promise.all([
      answerOf(() => store.read(account)),
      answerOf(() => store.swap(account, 1, sample(2), 'two')),
    ])
    server.thaw()
    expect(calls).toEqual([unavailable, unavailable])
    // Whether the frozen server got it or not: the same write again is a success, once.
    expect(await commit(store, 1, 'two')).toBe('saved')
    expect(await store.read(account)).toMatchObject({ version: 2, record: sample(2) })
  })

  test('a server that is gone gives an error', async () => {
    const server = await startRedis()
    const store = redisTokenStore({ client: await connect(server.port) })
    await server.stop()
    for (const call of [() => store.read(account), () => store.swap(account, 0, sample(1), 'one')]) {
      expect(await answerOf(call)).toEqual(unavailable)
    }
  })

  test('CLIENT PAUSE is an outage like any other', async () => {
    const server = await startRedis()
    cleanUps.push(server.stop)
    const store = redisTokenStore({ client: await connect(server.port) })
    await store.swap(account, 0, sample(1), 'one')
    await server.command('CLIENT', 'PAUSE', '2500', 'ALL')
    expect(await answerOf(() => store.read(account))).toEqual(unavailable)
    expect(await commit(store, 1, 'two')).toBe('saved')
    expect((await store.read(account))?.version).toBe(2)
  })

  test('E4: an answer that gets lost on the way is asked for again: no write is doubled, none meets a false conflict', async () => {
    const server = await startRedis()
    cleanUps.push(server.stop)
    const proxy = await startCuttingProxy(server.port)
    cleanUps.push(proxy.close)
    const store = redisTokenStore({ client: await connect(proxy.port) })
    const goal = rounds(30, 1000)
    for (let version = 0; version < goal; version += 1) {
      // The client has to be back for this cut to be the answer's.
      while ((await store.read('nobody').catch(() => null)) === null) await pause()
      proxy.cutNext = true
      expect(await commit(store, version, randomUUID())).toBe('saved')
    }
    expect(proxy.cuts).toBe(goal)
    expect((await store.read(account))?.version).toBe(goal)
  }, 300_000)

  test('a replica can be read, and not written to', async () => {
    const master = await startRedis()
    cleanUps.push(master.stop)
    const replica = await startRedis('--replicaof', '127.0.0.1', String(master.port))
    cleanUps.push(replica.stop)
    const onMaster = redisTokenStore({ client: await connect(master.port) })
    await onMaster.swap(account, 0, sample(1), 'one')
    const store = redisTokenStore({ client: await connect(replica.port) })
    while ((await store.read(account).catch(() => undefined))?.version !== 1) await new Promise(setImmediate)
    const answer = await answerOf(() => store.swap(account, 1, sample(2), 'two'))
    expect(answer).toEqual(unavailable)
    expect(String(answer)).toContain('READONLY')

    // The replica is made the master before it hears of the last write.
    await replica.command('REPLICAOF', 'NO', 'ONE')
    await onMaster.swap(account, 1, sample(2), 'two')
    await master.kill()
    // It says what stands there. Who knows better writes it back over that version.
    expect((await store.read(account))?.version).toBe(1)
    expect(await store.swap(account, 1, sample(2), 'written back')).toMatchObject({ version: 2, record: sample(2) })
  })

  test('a server that has lost its data has no record, and a swap over the lost version is a conflict', async () => {
    const server = await startRedis()
    cleanUps.push(server.stop)
    const store = redisTokenStore({ client: await connect(server.port) })
    await store.swap(account, 0, sample(1), 'one')
    await server.command('FLUSHALL')
    expect(await store.read(account)).toBeUndefined()
    expect(await store.swap(account, 1, sample(2), 'two')).toEqual({ conflict: true })
    expect(await store.swap(account, 0, sample(2), 'two')).toMatchObject({ version: 1 })
  })

  test('a server out of memory takes no write, and the old record is kept', async () => {
    const server = await startRedis('--maxmemory-policy', 'noeviction')
    cleanUps.push(server.stop)
    const store = redisTokenStore({ client: await connect(server.port) })
    await store.swap(account, 0, sample(1), 'one')
    await server.command('CONFIG', 'SET', 'maxmemory', '1')
    const answer = await answerOf(() => store.swap(account, 1, sample(2), 'two'))
    expect(answer).toMatchObject({ code: 'ERR_SSO_STORE', reason: 'write-failed' })
    expect(String(answer)).toContain('OOM')
    expect(await store.read(account)).toMatchObject({ version: 1, record: sample(1) })
  })
})

describeWithRedis('over node-redis', () => {
  test('a command that could not be sent in time is not carried out later', async () => {
    const server = await startRedis('--appendonly', 'yes')
    cleanUps.push(server.stop)
    const client = await nodeRedis(server.url)
    cleanUps.push(() => client.destroy())
    const store = redisTokenStore({ client })
    await server.kill()
    const answer = await answerOf(() => store.swap(account, 0, sample(1), 'one'))
    expect(answer).toEqual(unavailable)
    await server.restart()
    while ((await store.read('nobody').catch(() => null)) === null) await pause()
    expect(await store.read(account)).toBeUndefined()
  })
})

describeWithRedis('a password', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis('--requirepass', 'sekret')
  })
  afterAll(() => server.stop())

  test('that is missing or wrong is an error that tells which', async () => {
    const client = ioRedis(server.port, { enableReadyCheck: false })
    cleanUps.push(() => client.disconnect())
    const answer = await answerOf(() => redisTokenStore({ client }).read(account))
    expect(answer).toMatchObject({ reason: 'permissions' })
    expect(String(answer)).toContain('NOAUTH')
  })

  test('in the client’s address works, and is never shown', async () => {
    const client = await nodeRedis(`redis://:sekret@127.0.0.1:${server.port}`)
    const store = redisTokenStore({ client })
    expect(await store.swap(account, 0, sample(1), 'one')).toMatchObject({ version: 1 })
    client.destroy()
    const gone = ioRedis(`redis://user:sekret@127.0.0.1:${await freePort()}`, { maxRetriesPerRequest: 0 })
    cleanUps.push(() => gone.disconnect())
    const closed = await answerOf(() => store.read(account))
    const refused = await answerOf(() => redisTokenStore({ client: gone }).read(account))
    expect([closed, refused]).toEqual([unavailable, unavailable])
    expect(inspect([closed, refused], { depth: Infinity, showHidden: true })).not.toMatch(/sekret|user:/)
  })
})

describe('an error that Redis answers', () => {
  test.each([
    ['NOAUTH Authentication required.', 'permissions', 'give it to the client'],
    ['WRONGPASS invalid username-password pair', 'permissions', 'does not accept'],
    ['NOPERM this user has no permissions', 'permissions', 'allow GET'],
    ["ERR The user executing the script can't run this command or subcommand", 'permissions', 'allow GET'],
    ['ERR ACL failure in script: User t has no permissions to run the ‘set’ command', 'permissions', 'allow GET'],
    ['OOM command not allowed', 'write-failed', 'raise maxmemory'],
    ['MISCONF Redis is configured to save RDB snapshots', 'write-failed', 'look at its log'],
    ['NOREPLICAS Not enough good replicas to write.', 'write-failed', 'replicas'],
    ['WRONGTYPE Operation against a key', 'corrupt', 'choose another prefix'],
    ['READONLY You can’t write against a read only replica.', 'unavailable', 'replica'],
    ['LOADING Redis is loading the dataset in memory', 'unavailable', 'loading'],
    ['MASTERDOWN Link with MASTER is down', 'unavailable', 'master'],
    ['CLUSTERDOWN The cluster is down', 'unavailable', 'a part of the cluster'],
    ['TRYAGAIN Multiple keys request during rehashing', 'unavailable', 'moving'],
    ['BUSY Redis is busy running a script', 'unavailable', 'script blocks'],
    ['MOVED 3999 127.0.0.1:6381', 'unavailable', 'can’t be reached'],
    ['ERR something sekret', 'unavailable', 'can’t be reached'],
    // A word that stands elsewhere, or that is part of another, says nothing.
    ['no WRONGTYPE at the beginning', 'unavailable', 'can’t be reached'],
    ['WRONGTYPES are others', 'unavailable', 'can’t be reached'],
    ['no ERR ACL failure in script', 'unavailable', 'can’t be reached'],
  ])('%s: %s, and what to do', async (reply, reason, advice) => {
    // Not a Redis: a server that answers every command with this error.
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('data', (chunk) => socket.write(`-${reply}\r\n`.repeat(String(chunk).split(/^\*/mu).length - 1)))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    const client = ioRedis(port, { enableReadyCheck: false, retryStrategy: null })
    cleanUps.push(
      () => server.close(),
      () => client.disconnect(),
    )
    const answer = await answerOf(() => redisTokenStore({ client }).read(account))
    expect(answer).toMatchObject({ code: 'ERR_SSO_STORE', reason, message: expect.stringContaining(advice) })
    expect(inspect(answer)).not.toMatch(/sekret|6381/)
  })
})
