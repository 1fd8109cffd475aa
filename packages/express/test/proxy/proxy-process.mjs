/**
 * The proxy in a process of its own, so that its memory can be told from that of its callers and of the owner API.
 *
 * Gets { target, token } as its first message and answers with its port; to any later one, with what it holds once its
 * idle connections to the owner API have ended.
 */
import { subscribe } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createTokenManager } from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { ownerApiProxy } from '../../dist/index.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')
const account = 'plain@example.com'

process.once('message', ({ target, token }) => {
  void start(target, token).then((port) => process.send({ port }))
})

const upstream = new Set()
let ended = () => {}
subscribe('undici:client:connected', ({ socket }) => {
  upstream.add(socket)
  socket.once('close', () => {
    upstream.delete(socket)
    if (upstream.size === 0) ended()
  })
})

/** Ends the connections, as the owner API would after a while. */
async function atRest() {
  if (upstream.size === 0) return
  const allEnded = new Promise((resolve) => (ended = resolve))
  for (const socket of upstream) socket.destroy()
  await allEnded
}

async function start(target, token) {
  const sso = { refresh: () => Promise.reject(new Error('nothing is refreshed here')) }
  const tokens = createTokenManager({ issuer: sso, store: memoryTokenStore() })
  await tokens.save(account, {
    access_token: token,
    refresh_token: 'refresh',
    token_type: 'Bearer',
    expires_at: Math.floor(Date.now() / 1000) + 28_800,
    auth_url: 'https://auth.example.com',
  })
  const proxy = ownerApiProxy({ target, tokens, account, authorize: true, maxConcurrent: 500 })
  const server = createServer(proxy).listen(0, '127.0.0.1')
  process.on('message', () => {
    void atRest().finally(() => {
      collectGarbage()
      process.send({
        // Kilobytes, the most there ever was.
        peak: process.resourceUsage().maxRSS,
        heap: process.memoryUsage().heapUsed,
        active: proxy.active(),
      })
    })
  })
  await new Promise((resolve) => server.once('listening', resolve))
  return server.address().port
}
