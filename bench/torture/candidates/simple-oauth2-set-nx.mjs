/** simple-oauth2 with the lock that Redis documents: `SET … NX PX 30000`, a random value, and a script that deletes only one's own. */
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'

export const about = {
  name: 'simple-oauth2, SET NX',
  packages: ['simple-oauth2', 'redis'],
  documentation: 'https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/',
  store: 'redis',
  worst: 'an answer after 60 s',
  because: 'the lock ends after 30 s, and the next process sends the same refresh token.',
}

const lock = 'lock:owner'
const unlock = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`

export async function open({ settings, service }) {
  const { openSimpleOauth2 } = await import('../applications/simple-oauth2.mjs')
  const { createClient } = await import('redis')
  const redis = createClient({ url: settings.url }).on('error', () => {})
  await redis.connect()
  async function withLock(work) {
    const value = randomUUID()
    while ((await redis.set(lock, value, { NX: true, PX: 30_000 })) === null) await wait(100)
    try {
      return await work()
    } finally {
      await redis.eval(unlock, { keys: [lock], arguments: [value] })
    }
  }
  return openSimpleOauth2({ redis, withLock, ...service })
}
