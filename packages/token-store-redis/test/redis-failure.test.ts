/** What Redis is asked, what it says, and what the store makes of it; and which values are records. */
import { describe, expect, it } from '@jest/globals'
import { StoreError } from '@owner-sso/token-manager'
import { givenUpInTime } from '../../../tests/support/unanswered.ts'
import { listenWith } from '../src/change-hint.ts'
import { checkRedis, type RedisClient, redisTokenStore } from '../src/index.ts'
import { decode, encode, keyOf } from '../src/record-value.ts'
import { withinDeadline } from '../src/redis-failure.ts'
import { seenKeys } from '../src/seen-keys.ts'

const words =
  'NOAUTH WRONGPASS NOPERM OOM MISCONF NOREPLICAS WRONGTYPE READONLY LOADING MASTERDOWN CLUSTERDOWN TRYAGAIN BUSY MOVED'

/** What the command's error becomes. */
async function meaning(error: unknown): Promise<string> {
  const command = async (): Promise<never> => {
    throw error
  }
  try {
    return await withinDeadline(command)
  } catch (failure) {
    if (!(failure instanceof StoreError)) throw failure
    return `${failure.reason}: ${failure.message.replace('secret', 'NOT TO BE SHOWN')}`
  }
}

describe('an answer of Redis', () => {
  it('means what it did in the last release', async () => {
    const meanings = words.split(' ').map(async (word) => [word, await meaning(new Error(`${word} secret`))])
    expect(Object.fromEntries(await Promise.all(meanings))).toMatchSnapshot()
  })

  it('is known by its first word alone', async () => {
    const unknown = await meaning(new Error('x'))
    expect(unknown).toMatch(/^unavailable: Redis can’t be reached/u)
    for (const message of ['xOOM secret', 'an OOM', 'OOMs', 'OOM: secret', 'oom', ''])
      expect(await meaning(new Error(message))).toBe(unknown)
    expect([await meaning('OOM secret'), await meaning(null)]).toEqual([unknown, unknown])
    const full = await meaning(new Error('OOM'))
    expect(full).toMatch(/^write-failed: /u)
    expect(await meaning(new Error('OOM. Secret'))).toBe(full)
  })

  it('is a permission where a script lacks it, in the words of each version', async () => {
    const denied = await meaning(new Error('NOPERM secret'))
    expect(await meaning(new Error("ERR The user executing the script can't run this"))).toBe(denied)
    expect(await meaning(new Error('ERR ACL failure in script: secret'))).toBe(denied)
    expect(await meaning(new Error('x ERR ACL failure in script'))).not.toBe(denied)
  })

  it.each(['OOM secret', 'secret'])('%j has the system’s code for its cause, and no words', async (message) => {
    const error = Object.assign(new Error(message), { code: 'ECONNRESET', syscall: 'read' })
    await expect(withinDeadline(() => Promise.reject(error))).rejects.toMatchObject({
      name: 'StoreError',
      cause: { message: 'read ECONNRESET', code: 'ECONNRESET' },
    })
  })

  it('is not what a program did wrong', async () => {
    const wrong = new TypeError('x')
    await expect(withinDeadline(() => Promise.reject(wrong))).rejects.toBe(wrong)
  })
})

describe('a value', () => {
  const key = keyOf('p:', 'ann')
  const record = { schema: 1, state: 'signed-out', generation: 1 } as const
  const value = encode('ann', 7, record, 'a "write"\n')

  it('is read as it was written', () => {
    expect(decode(value, key)).toEqual({ version: 7, writeId: 'a "write"\n', record, account: 'ann' })
    expect(decode(encode('ann', 9_007_199_254_740_991, record, ''), key).version).toBe(9_007_199_254_740_991)
  })

  it.each([
    ['of another account', encode('bob', 7, record, 'w')],
    ['with a head', ` ${value}`],
    ['of another format', value.replace('/1 ', '/2 ')],
    ['of version 0', value.replace(' 7 ', ' 0 ')],
    ['of a version with a zero before it', value.replace(' 7 ', ' 07 ')],
    ['of a version with 17 digits', value.replace(' 7 ', ' 10000000000000000 ')],
    ['without a name of the write', value.replace(/"[^]*?"\n\{/u, '7\n{')],
    ['without a record', `owner-sso/1 7 "w"\n{"account":"ann"}`],
    ['with a list for a record', `owner-sso/1 7 "w"\n{"account":"ann","record":[]}`],
    ['with null for a record', `owner-sso/1 7 "w"\n{"account":"ann","record":null}`],
    ['without an account', `owner-sso/1 7 "w"\n{"record":{}}`],
    ['cut', value.slice(0, -1)],
    ['of null', `owner-sso/1 7 "w"\nnull`],
    ['empty', ''],
  ])('%s is none', (_what, other) => {
    expect(() => decode(other, key)).toThrow(expect.objectContaining({ reason: 'corrupt' }))
  })

  it('has a key that tells nothing of the account', () => {
    expect(key).toMatch(/^p:\{[\da-f]{64}\}$/u)
    for (const account of ['\ud800', 7 as never]) expect(() => keyOf('', account)).toThrow(TypeError)
  })
})

describe('a command', () => {
  const asked: unknown[] = []
  const settled = async (answer: unknown): Promise<unknown> => answer
  /** What answers every method of that name as given, and notes it. */
  const answering = (answers: Readonly<Record<string, unknown>>): object =>
    Object.fromEntries(
      Object.entries(answers).map(([name, answer]) => [
        name,
        (...given: unknown[]) => {
          asked.push([name, ...given])
          return name === 'withCommandOptions' || name === 'nodes' || name === 'nodeClient' ? answer : settled(answer)
        },
      ]),
    )
  const info = 'maxmemory_policy:allkeys-lru\r\naof_enabled:0\r\n'
  const ioRedisNode = answering({ scan: ['0', []], info })
  const nodeRedisNode = answering({ scan: { cursor: '0', keys: [] }, info })
  const nodeRedis = { ...nodeRedisNode, ...answering({ withCommandOptions: answering({ get: undefined, eval: 0 }) }) }
  const clients: Readonly<Record<string, object>> = {
    ioRedis: { ...ioRedisNode, ...answering({ get: null, eval: 0, defineCommand: 0 }), options: { keyPrefix: 'p*' } },
    'a cluster of ioRedis': answering({ nodes: [ioRedisNode], get: null, eval: 0, defineCommand: 0 }),
    nodeRedis,
    // A cluster has both of these.
    'nodeRedis with masters': { ...nodeRedis, masters: [1] },
    'nodeRedis with nodeClient': { ...nodeRedis, ...answering({ nodeClient: ioRedisNode }) },
    'a cluster of nodeRedis': { ...nodeRedis, ...answering({ nodeClient: nodeRedisNode }), masters: [1, 2] },
  }

  it.each(Object.keys(clients))('to %s is what it was in the last release', async (name) => {
    const client = clients[name] as unknown as RedisClient
    asked.length = 0
    const store = redisTokenStore({ client, prefix: 'mine[1]:' })
    const next = { schema: 1, state: 'signed-out', generation: 1 } as const
    expect(await store.read('ann')).toBeUndefined()
    expect(await store.swap('ann', 0, next, 'one')).toEqual({ conflict: true })
    expect(await store.swap('ann', 1, next, 'two', { expectedWriteId: 'one' })).toEqual({ conflict: true })
    for await (const account of store.accounts?.() ?? []) asked.push(account)
    expect((await checkRedis(client)).map(({ about }) => about)).toEqual(['eviction', 'persistence'])
    expect(asked).toMatchSnapshot()
  })

  it('to a server with a policy of its own that drops keys is told of', async () => {
    const node = answering({ info: 'maxmemory_policy:eviction\r\naof_enabled:1\r\n' })
    const client = { ...node, ...answering({ get: null, eval: 0, defineCommand: 0 }) } as unknown as RedisClient
    expect((await checkRedis(client)).map(({ about }) => about)).toEqual(['eviction'])
  })

  it('has a second and a half', async () => {
    expect(await givenUpInTime(withinDeadline)).toBe('Redis did not answer in time.')
  })

  it.each(['ioRedis', 'nodeRedis'])('of one subscription a channel goes to %s, whoever listens', (library) => {
    const sent: string[] = []
    const heard: ((...words: string[]) => void)[] = []
    const note =
      (name: string) =>
      async (channel: string, listener?: (...words: string[]) => void): Promise<void> => {
        sent.push(`${name} ${channel}`)
        if (name === 'subscribe' && listener) heard.push(listener)
      }
    const both = { subscribe: note('subscribe'), unsubscribe: note('unsubscribe') }
    const on = (event: string, listener: (...words: string[]) => void): void => {
      sent.push(`on ${event}`)
      heard.push(listener)
    }
    const client = library === 'ioRedis' ? { ...both, on, defineCommand: () => undefined } : both
    const listen = listenWith(client)
    const says = (channel: string): void =>
      heard[0]?.(...(library === 'ioRedis' ? [channel, 'changed'] : ['changed', channel]))
    const told: string[] = []
    const ends = ['first', 'second', 'other'].map((name) => listen(name === 'other' ? 'b' : 'a', () => told.push(name)))
    says('a')
    ends[0]?.()
    ends[0]?.()
    says('a')
    ends[1]?.()
    ends[1]?.()
    says('a')
    const last = listen('a', () => told.push('again'))
    says('a')
    last()
    expect(told).toEqual(['first', 'second', 'second', 'again'])
    const start = library === 'ioRedis' ? ['on message'] : []
    expect(sent).toEqual([...start, 'subscribe a', 'subscribe b', 'unsubscribe a', 'subscribe a', 'unsubscribe a'])
  })
})

it('a listing knows each of many keys again', () => {
  const seen = seenKeys()
  const keys = Array.from({ length: 20_000 }, (_, index) => `key ${index}`)
  expect(keys.filter((key) => !seen.add(key))).toEqual([])
  expect(keys.filter((key) => seen.add(key))).toEqual([])
})
