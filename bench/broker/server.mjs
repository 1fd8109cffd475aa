/** The broker, and next to it the bare proxy, in one process: `node server.mjs FOLDER CLIENTS`. Sends their ports and the keys. */
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { join } from 'node:path'
import { brokerClients, tokenBroker } from '@owner-sso/broker'
import { createTokenManager, notebook } from '@owner-sso/core'
import { ownerApiProxy } from '@owner-sso/express'
import { fileTokenStore } from '@owner-sso/token-store-file'

const [folder, numberOfClients] = process.argv.slice(2)
const account = 'ann@example.com'

const upstream = createServer((_request, response) =>
  response.setHeader('content-type', 'application/json').end('{"response":[],"count":0}'),
)
const target = `http://127.0.0.1:${await listening(upstream)}`

const store = fileTokenStore({ path: join(folder, 'tokens'), encryptionKey: randomBytes(32) })
const tokens = createTokenManager({
  issuer: { refresh: () => Promise.reject(new Error('nothing is refreshed here')) },
  store,
})
const expires_at = Math.floor(Date.now() / 1000) + 28_800
const access_token = randomBytes(600).toString('base64url')
const auth_url = 'https://auth.example.com'
await tokens.save(account, { access_token, refresh_token: 'refresh', token_type: 'Bearer', expires_at, auth_url })

// In one go: an invitation each would write the list a thousand times.
const keys = Array.from({ length: Number(numberOfClients) }, () => randomBytes(32).toString('base64url'))
const entries = keys.map((key, index) => ({
  name: `client ${index}`,
  accounts: [account],
  scope: ['token', 'proxy'],
  keys: [{ sha256: createHash('sha256').update(key).digest('hex') }],
}))
await notebook(store, 'clients').change(() => ({ clients: entries }))

const limits = { callsPerMinute: 1_000_000 }
const broker = tokenBroker({ tokens, clients: brokerClients({ store }), proxy: { target }, limits })
const { url } = await broker.listen({ port: 0 })
const proxyPort = await listening(createServer(ownerApiProxy({ target, tokens, account, authorize: true })))
process.send({ brokerPort: Number(new URL(url).port), proxyPort, keys })

async function listening(server) {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server.address().port
}
