/**
 * A process that is held up while an answer is on its way: one task, of which it prints what came of it.
 *
 * Told to on its standard input, it blocks itself in the midst of a turn of the event loop.
 */
import { once } from 'node:events'
import { writeSync } from 'node:fs'
import { createServer } from 'node:http'
import { get } from 'node:https'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createSso, withTimeLimit } from '@owner-sso/core'

const { task, given, duration } = JSON.parse(process.env.HELD_UP)

const tasks = {
  /** The refresh token of a refresh, or the error's code. */
  async refresh({ authUrl, limit, ca, transport }) {
    const sso = createSso({ authUrl, timeout: limit, transport, tls: { ca } })
    const old = { access_token: 'a', refresh_token: 'r', token_type: 'Bearer', expires_at: 0, auth_url: authUrl }
    const { refresh_token } = await sso.refresh(old).catch(({ code }) => ({ refresh_token: code }))
    return refresh_token
  },

  /** Status and length of an answer that came through our own proxy. */
  async proxy({ target, ...limits }) {
    const server = await startProxy(target, limits)
    const answer = await fetch(`http://127.0.0.1:${server.address().port}/api/1/vehicles`)
    return `${answer.status} ${(await answer.text().catch(() => '')).length}`
  },

  /** Whether a caller that reads nothing for a while gets its whole answer; tells its port, and when the answer is stuck. */
  async slowCaller({ target, ...limits }) {
    const server = await startProxy(target, limits)
    writeSync(1, `port ${server.address().port}\n`)
    const [, response] = await once(server, 'request')
    const closed = once(response, 'close')
    for (let turns = 0; turns < 50; turns = response.writableNeedDrain ? turns + 1 : 0) await nextTurn()
    writeSync(1, 'stuck\n')
    await closed
    return response.writableFinished ? 'whole' : 'cut'
  },

  /** The length of an answer to a request that has a signal, or the error's name. */
  async signal({ url, ca, limit }) {
    const answered = async (signal) => {
      const [answer] = await once(get(url, { ca, signal }), 'response')
      return String((await text(answer)).length)
    }
    return withTimeLimit(limit, answered).catch(({ name }) => name)
  },

  /** The length of a record in Redis, or the error's message. */
  async redis({ url }) {
    const { redisTokenStore } = await import('@owner-sso/token-store-redis')
    const { createClient } = await import('redis')
    const client = await createClient({ url })
      .on('error', () => {})
      .connect()
    const { record } = await redisTokenStore({ client })
      .read('someone')
      .catch(({ message }) => ({ record: message }))
    return typeof record === 'string' ? record : String(record.padding.length)
  },
}

/** Our own proxy. What only one task uses is loaded by it: that is more than half of what a start takes. */
async function startProxy(target, limits) {
  const { ownerApiProxy } = await import('@owner-sso/express')
  const tokens = { getAccessToken: async () => 'a-token-of-some-length', invalidate: async () => {} }
  const proxy = ownerApiProxy({ target, tokens, account: 'someone', authorize: () => true, ...limits })
  const server = createServer(proxy).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

process.stdin.once('data', () => {
  writeSync(1, 'held up\n')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, duration)
})
writeSync(1, `${await tasks[task](given)}\n`)
process.exit()
