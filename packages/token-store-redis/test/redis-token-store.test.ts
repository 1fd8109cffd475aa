/** What stands in Redis, what goes over the wire, and what the store refuses. */
import { createHash, randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import type { Redis } from 'ioredis'
import { createTokenManager, type StoreError, type TokenSet } from '@owner-sso/token-manager'
import { createClient, createClientPool, createSentinel, RESP_TYPES } from 'redis'
import { checkRedis, type RedisClient, redisTokenStore } from '../src/index.ts'
import { expectDamageIsMended } from '../../../tests/support/damaged-record.ts'
import { describeWithRedis, type RedisServer, startRedis } from '../../../tests/support/redis-server.ts'
import { type NodeRedis, nodeRedis, nodeRedisCluster, ioRedis } from './redis-clients.ts'
import { startCluster } from './redis-deployments.ts'
import { startReticentServer } from './reticent-server.ts'
import { account, sample } from '../../../tests/support/store-samples.ts'

let server: RedisServer
let client: NodeRedis
let pool: RedisClient & { destroy: () => void }
const io: Redis[] = []
const ioRedisWith = (options: Parameters<typeof ioRedis>[1]): Redis => {
  const made = ioRedis(server.port, options)
  io.push(made)
  return made
}

const ownTypes = { [RESP_TYPES.BLOB_STRING]: Buffer, [RESP_TYPES.NUMBER]: String } as const
const nodeRedises: { destroy: () => void }[] = []
/** Not connected yet: what is sent waits for that. */
function nodeRedisWith(options: Parameters<typeof createClient>[0]): RedisClient {
  const made = createClient({ url: server.url, ...options }).on('error', () => undefined)
  nodeRedises.push(made)
  void made.connect()
  return made
}

/** What the server has carried out since its statistics were reset, but for the test's own. */
async function commandsSent(): Promise<string[]> {
  const calls = (await client.info('commandstats')).matchAll(/cmdstat_(\w+):calls=(\d+)/gu)
  return [...calls]
    .map(([, name, count]) => `${name} ${count}`)
    .filter((call) => !/^(?:config|info|client)/u.test(call))
    .toSorted()
}

/** Looks again until it is so. */
async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5))
}

describeWithRedis('redisTokenStore', () => {
  beforeAll(async () => {
    server = await startRedis()
    client = await nodeRedis(server.url)
    const connecting = createClientPool({ url: server.url, commandOptions: { typeMapping: ownTypes } })
    await connecting.connect()
    pool = connecting
  })
  beforeEach(async () => void (await client.flushAll()))
  afterAll(async () => {
    client.destroy()
    pool.destroy()
    nodeRedises.forEach((each) => each.destroy())
    io.forEach((each) => each.disconnect())
    await server.stop()
  })

  test('sends one GET to read and one script to swap', async () => {
    const store = redisTokenStore({ client })
    await client.configResetStat()
    await store.swap(account, 0, sample(1), 'one')
    await store.read(account)
    await store.read('nobody')
    // The script's own: one GET, one SET, one PUBLISH.
    expect(await commandsSent()).toEqual(['eval 1', 'get 3', 'publish 1', 'set 1'])
  })

  test('sends two GETs and two scripts for a whole refresh', async () => {
    const issued = (name: string): TokenSet => ({
      access_token: `access-${name}`,
      refresh_token: `refresh-${name}`,
      token_type: 'Bearer',
      expires_at: Date.now() / 1000 + 28_800,
      auth_url: 'http://127.0.0.1:9',
    })
    const sso = { refresh: async () => issued('new') }
    const tokens = createTokenManager({ issuer: sso, store: redisTokenStore({ client }), minRefreshInterval: 0 })
    await tokens.save(account, issued('old'))
    await client.configResetStat()
    expect(await tokens.getAccessToken(account)).toBe('access-old')
    await tokens.invalidate(account, 'access-old')
    expect(await tokens.getAccessToken(account)).toBe('access-new')
    expect(await tokens.getAccessToken(account)).toBe('access-new')
    // The record and what is known of the firewall, side by side; the intent; the new tokens. Each script has a GET of its own.
    expect(await commandsSent()).toEqual(['eval 2', 'get 4', 'publish 2', 'set 2'])
  })

  test('gives a conflict, by the same one command, to a process that read the store before it was emptied and filled again', async () => {
    const [before, after] = [redisTokenStore({ client }), redisTokenStore({ client })]
    await before.swap(account, 0, sample(1), 'lost')
    const { version = 0, writeId = '' } = (await before.read(account)) ?? {}
    await client.flushAll()
    await after.swap(account, 0, sample(-1), 'signed in again')
    await client.configResetStat()
    const late = await before.swap(account, version, sample(2), 'late', { expectedWriteId: writeId })
    expect(await commandsSent()).toEqual(['eval 1', 'get 1'])
    expect(late).toEqual({ conflict: true })
    expect(await after.read(account)).toEqual({ version: 1, writeId: 'signed in again', record: sample(-1) })
  })

  test.each([
    ['behind our header', 'owner-sso/1 7 "a write"\ngarbage'],
    ['without a header', 'garbage'],
  ])('garbage %s in a record of our own is replaced; in an account’s it is left', async (where, garbage) => {
    const store = redisTokenStore({ client })
    const keyOf = (name: string): string => `owner-sso:{${createHash('sha256').update(name).digest('hex')}}`
    const damage = async (name: string): Promise<unknown> => client.set(keyOf(name), garbage)
    await expectDamageIsMended(store, `https://redis.${where.length}.example`, damage)
  })

  test('puts no name of an account into a key, and the account into one hash slot', async () => {
    await redisTokenStore({ client, prefix: 'mine:' }).swap(account, 0, sample(1), 'one')
    const keys = await client.keys('*')
    expect(keys).toEqual([expect.stringMatching(/^mine:\{[0-9a-f]{64}\}$/u)])
  })

  test('sets no time to live, and takes away one that somebody has set', async () => {
    const store = redisTokenStore({ client })
    await store.swap(account, 0, sample(1), 'one')
    const [key = ''] = await client.keys('*')
    expect(await client.ttl(key)).toBe(-1)
    await client.expire(key, 100)
    await store.swap(account, 1, sample(2), 'two')
    expect(await client.ttl(key)).toBe(-1)
  })

  test('writes for a user who may not publish', async () => {
    await client.sendCommand([
      'ACL',
      'SETUSER',
      'writer',
      'on',
      '>sekret',
      '~owner-sso:*',
      '+get',
      '+set',
      '+eval',
      '+publish',
      'resetchannels',
    ])
    const user = ioRedisWith({ username: 'writer', password: 'sekret', enableReadyCheck: false })
    const store = redisTokenStore({ client: user })
    expect(await store.swap(account, 0, sample(1), 'one')).toMatchObject({ version: 1 })
    expect(await store.swap(account, 0, sample(1), 'one')).toMatchObject({ version: 1 })
  })

  test('says what to allow to a user who may run scripts, but not write in them', async () => {
    const rules = ['resetchannels', '~owner-sso:*', '+get', '+eval']
    await client.sendCommand(['ACL', 'SETUSER', 'reader', 'on', '>sekret', ...rules])
    const user = ioRedisWith({ username: 'reader', password: 'sekret', enableReadyCheck: false })
    await expect(redisTokenStore({ client: user }).swap(account, 0, sample(1), 'one')).rejects.toMatchObject({
      reason: 'permissions',
      message: expect.stringContaining('allow GET, SET, SCAN, EVAL and PUBLISH'),
    })
  })

  test('lists every account that it can read, and then says that there is something else', async () => {
    const store = redisTokenStore({ client })
    for (let index = 0; index < 6; index += 1) await store.swap(`account-${index}`, 0, sample(1), 'one')
    const keys = (await client.keys('*')).toSorted()
    // Wherever the scan begins, there is something foreign before the end.
    await client.set(keys[1] ?? '', 'hello')
    await client.del(keys[4] ?? '')
    await client.lPush(keys[4] ?? '', 'a list')
    const names: string[] = []
    const list = async (): Promise<void> => {
      for await (const name of store.accounts?.() ?? []) names.push(name)
    }
    await expect(list()).rejects.toMatchObject({ code: 'ERR_SSO_STORE', reason: 'corrupt' })
    expect(names).toHaveLength(4)
  })

  test('lists each of many accounts once, whatever a scan names twice', async () => {
    const store = redisTokenStore({ client })
    const all = Array.from({ length: 200 }, (_, index) => `account-${index}`)
    await Promise.all(all.map((name) => store.swap(name, 0, sample(1), 'one')))
    // A node whose scan begins again once: what a table that shrinks meanwhile makes of it.
    const node = ioRedisWith({})
    const scan = node.scan.bind(node)
    let rounds = 0
    const scanTwice = async (cursor: string, ...rest: never[]): Promise<[string, string[]]> => {
      const [next, keys] = await scan(cursor, ...rest)
      if (next === '0') rounds += 1
      return [next === '0' && rounds < 2 ? '00' : next, keys]
    }
    Object.assign(node, { scan: scanTwice })
    const names: string[] = []
    for await (const name of redisTokenStore({ client: node }).accounts?.() ?? []) names.push(name)
    expect(rounds).toBe(2)
    expect(names.toSorted()).toEqual(all.toSorted())
  })

  test('leaves a value that it did not write as it is, and says so', async () => {
    const store = redisTokenStore({ client })
    await store.swap(account, 0, sample(1), 'one')
    const [key = ''] = await client.keys('*')
    const written = String(await client.get(key))
    for (const value of [
      '',
      ` ${written}`,
      `owner-sso/1 ${written}`,
      written.replace('owner-sso/1 1 ', 'owner-sso/1 0 '),
      written.replace('owner-sso/1 1 ', `owner-sso/1 1${'0'.repeat(16)} `),
      'hello',
      '{"version":1}',
      'owner-sso/1 1 "x"\n{',
      'owner-sso/1 1 "x"\n{"account":"bob","record":{}}',
      ...['null', '[]', '7', '"signed-in"'].map(
        (record) => `owner-sso/1 1 "x"\n{"account":${JSON.stringify(account)},"record":${record}}`,
      ),
    ]) {
      await client.set(key, value)
      await expect(store.read(account)).rejects.toMatchObject({ reason: 'corrupt' })
      const answer: unknown = await store.swap(account, 0, sample(1), 'one').catch((error: StoreError) => error.reason)
      // The script looks at the header alone.
      const answers = /^owner-sso\/1 \d+ "/u.test(value) ? ['corrupt', { conflict: true }] : ['corrupt']
      expect(answers).toContainEqual(answer)
      expect(await client.get(key)).toBe(value)
    }
    await client.del(key)
    await client.lPush(key, 'a list')
    await expect(store.read(account)).rejects.toMatchObject({ reason: 'corrupt' })
  })

  test.each<[string, () => RedisClient]>([
    ['ioredis with keyPrefix', () => ioRedisWith({ keyPrefix: 'app[1]:' })],
    ['ioredis with stringNumbers', () => ioRedisWith({ stringNumbers: true })],
    ['ioredis with pipelines of its own', () => ioRedisWith({ enableAutoPipelining: true, stringNumbers: true })],
    ['ioredis with friendly stacks', () => ioRedisWith({ showFriendlyErrorStack: true })],
    ['ioredis over RESP 3', () => ioRedisWith({ protocol: 3, stringNumbers: true })],
    ['node-redis with types of its own', () => client.withTypeMapping(ownTypes)],
    ['node-redis over RESP 2', () => nodeRedisWith({ RESP: 2, commandOptions: { typeMapping: ownTypes } })],
    ['node-redis over RESP 3', () => nodeRedisWith({ RESP: 3, commandOptions: { typeMapping: ownTypes } })],
    ['a pool of node-redis', () => pool],
  ])('understands %s', async (_, made) => {
    const mine = made()
    const store = redisTokenStore({ client: mine })
    expect(await store.swap(account, 0, sample(1), 'one')).toMatchObject({ version: 1 })
    expect(await store.swap(account, 0, sample(1), 'one')).toMatchObject({ version: 1, record: sample(1) })
    expect(await store.swap(account, 0, sample(2), 'other')).toEqual({ conflict: true })
    expect(await store.swap(account, 1, sample(2), 'two', { expectedWriteId: 'one' })).toMatchObject({ version: 2 })
    expect(await store.read(account)).toMatchObject({ version: 2, record: sample(2) })
    expect(await store.read('nobody')).toBeUndefined()
    const names: string[] = []
    for await (const name of store.accounts?.() ?? []) names.push(name)
    expect(names).toEqual([account])
    expect(await checkRedis(mine)).toHaveLength(1)
  })

  test('does not open, close or configure the client', async () => {
    const mine = createClient({ url: server.url }).on('error', () => undefined)
    const store = redisTokenStore({ client: mine })
    expect(mine.isOpen).toBe(false)
    const ended = ioRedisWith({ lazyConnect: true })
    ended.disconnect()
    const sentinel = createSentinel({ name: 'mine', sentinelRootNodes: [{ host: '127.0.0.1', port: server.port }] })
    const notConnected = { reason: 'unavailable', message: expect.stringContaining('await client.connect()') }
    for (const none of [mine, ended, createClientPool({ url: server.url }), sentinel]) {
      const unconnected = redisTokenStore({ client: none })
      await expect(unconnected.read(account)).rejects.toMatchObject(notConnected)
      await expect(unconnected.swap(account, 0, sample(1), 'one')).rejects.toMatchObject(notConnected)
      await expect(checkRedis(none)).rejects.toMatchObject(notConnected)
    }
    await mine.connect()
    expect(await store.read(account)).toBeUndefined()
    expect(mine.isOpen).toBe(true)
    mine.destroy()
  })

  test('has a watch only with a connection of its own for it', () => {
    expect(redisTokenStore({ client })).not.toHaveProperty('watch')
    expect(redisTokenStore({ client, subscriber: client })).toHaveProperty('watch')
  })

  test.each([
    ['node-redis', async () => nodeRedis(server.url)],
    ['ioredis', async () => ioRedisWith({})],
  ])('subscribes once however many watch, and unsubscribes after the last: %s', async (_name, connect) => {
    const subscriber = await connect()
    const store = redisTokenStore({ client, subscriber })
    const told: string[] = []
    const [endFirst, endSecond] = ['first', 'second'].map((name) => store.watch?.(account, () => told.push(name)))
    const subscribers = async (): Promise<unknown> => {
      const [channel = ''] = await client.pubSubChannels('owner-sso:*')
      return channel && (await client.pubSubNumSub([channel]))[channel]
    }
    await until(async () => (await subscribers()) === 1)
    endFirst?.()
    endFirst?.()
    await store.swap(account, 0, sample(1), 'one')
    await until(() => told.length > 0)
    expect(told).toEqual(['second'])
    endSecond?.()
    await until(async () => (await subscribers()) === '')
    if ('destroy' in subscriber) subscriber.destroy()
  })

  test('shows no token to who can read Redis, with an encryption key', async () => {
    const store = redisTokenStore({ client, encryptionKey: randomBytes(32) })
    await store.swap(account, 0, sample(1), 'one')
    const [key = ''] = await client.keys('*')
    expect(await client.get(key)).not.toMatch(/filling|1;1;/u)
    expect(await store.read(account)).toMatchObject({ version: 1, record: sample(1) })
    await expect(redisTokenStore({ client, encryptionKey: randomBytes(32) }).read(account)).rejects.toMatchObject({
      reason: 'wrong-key',
    })
    expect(() => redisTokenStore({ client, encryptionKey: randomBytes(31) })).toThrow(/encryptionKey must be 32/u)
  })

  test('rejects what is no client, a mistyped option, and account names that are not Unicode', async () => {
    const mistakes: readonly (readonly [unknown, string])[] = [
      [undefined, ''],
      [null, '; null came'],
      [{}, ''],
      ['redis://127.0.0.1', '; text came'],
      [client.connect, '; a function came: call it'],
      [Promise.resolve(client), '; a promise came: await it'],
    ]
    for (const [none, came] of mistakes) {
      const message = `client must be a node-redis or ioredis client, version 5 or later${came}`
      expect(() => redisTokenStore({ client: none as never })).toThrow(new TypeError(message))
    }
    expect(() => redisTokenStore({ client, prefix: 5 as never })).toThrow('prefix must be text')
    expect(() => redisTokenStore({ client, subscriber: true as never })).toThrow(
      'subscriber must be a client of its own',
    )
    expect(() => redisTokenStore(undefined as never)).toThrow('redisTokenStore takes an object with client, prefix')
    const typo: object = { encryptionkey: randomBytes(32) }
    expect(() => redisTokenStore({ client, ...typo })).toThrow('Did you mean encryptionKey?')
    await expect(redisTokenStore({ client }).read('\uD800')).rejects.toThrow(TypeError)
  })

  test('shows no token when it is printed', async () => {
    const store = redisTokenStore({ client: ioRedisWith({ password: 'sekret', lazyConnect: true }) })
    expect(inspect(store, { depth: 5 })).not.toContain('sekret')
  })
})

describeWithRedis('checkRedis', () => {
  test('has nothing to say about a server that keeps what it is given', async () => {
    const safe = await startRedis('--appendonly', 'yes')
    const both = [await nodeRedis(safe.url), ioRedis(safe.url)] as const
    for (const each of both) expect(await checkRedis(each)).toEqual([])
    both[0].destroy()
    both[1].disconnect()
    await safe.stop()
  })

  test('says nothing about settings that a server does not show', async () => {
    const unsafe = await startRedis('--appendonly', 'no', '--maxmemory-policy', 'allkeys-lru')
    const reticent = await startReticentServer(Number(new URL(unsafe.url).port))
    const [first, second] = [ioRedis(unsafe.url), ioRedis(`redis://127.0.0.1:${reticent.port}`)]
    expect((await checkRedis(first)).map(({ about }) => about)).toEqual(['eviction', 'persistence'])
    expect(await checkRedis(second)).toEqual([])
    for (const each of [first, second]) each.disconnect()
    await reticent.close()
    await unsafe.stop()
  })

  test.each([
    ['noeviction', []],
    // Our keys have no time to live: these spare them.
    ...['volatile-lru', 'volatile-lfu', 'volatile-random', 'volatile-ttl'].map((policy) => [policy, []] as const),
    ...['allkeys-lru', 'allkeys-lfu', 'allkeys-random'].map((policy) => [policy, ['eviction']] as const),
  ])('maxmemory-policy %s: %j', async (policy, problems) => {
    const own = await startRedis('--appendonly', 'yes', '--maxmemory-policy', policy)
    const asking = ioRedis(own.url)
    expect((await checkRedis(asking)).map(({ about }) => about)).toEqual(problems)
    asking.disconnect()
    await own.stop()
  })

  test('tells of each eviction policy of a cluster once, and once of missing persistence (E14)', async () => {
    const cluster = await startCluster()
    const policies = ['allkeys-lru', 'allkeys-lfu', 'allkeys-lru']
    for (const [index, node] of cluster.nodes.entries())
      await node.command('CONFIG', 'SET', 'maxmemory-policy', policies[index % 3] ?? '')
    const asking = await nodeRedisCluster(cluster.nodes)
    const messages = (await checkRedis(asking)).map(({ message }) => message).toSorted()
    expect(messages).toEqual([
      expect.stringContaining('append-only'),
      expect.stringContaining('allkeys-lfu'),
      expect.stringContaining('allkeys-lru'),
    ])
    asking.destroy()
    await cluster.stop()
  })
})
