/**
 * One proxy in a process of its own: `node proxy.mjs NAME VERSION`, over that version of HTTP, with the upstream in the environment. Tells its CPU time when asked.
 */
import { createServer } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import { createTokenManager } from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { candidates } from './candidates.mjs'

const { BENCH_TARGET: target, BENCH_CA: ca } = process.env

/** A real token manager with a token as long as a real one. */
const tokens = createTokenManager({
  issuer: { refresh: () => Promise.reject(new Error('unused')) },
  store: memoryTokenStore(),
})
await tokens.save('bench@example.com', {
  access_token: `${'a'.repeat(40)}.${'b'.repeat(640)}.${'c'.repeat(342)}`,
  refresh_token: 'unused',
  token_type: 'Bearer',
  expires_at: Math.floor(Date.now() / 1000) + 28_800,
  auth_url: 'https://auth.example.com',
})

const [name, version] = process.argv.slice(2)
const listener = await candidates[name].listener({ target, ca, tokens, version })
const server = version === '2' ? createHttp2Server(listener) : createServer(listener)
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
process.on('message', () => process.send({ cpu: process.cpuUsage(), rss: process.memoryUsage().rss }))
