/** One instance of a broker over Redis: `node instance.mjs AUTH_URL REDIS_URL`. Says its address once it listens. */
import { createSso, createTokenManager } from '@owner-sso/core'
import { redisTokenStore } from '@owner-sso/token-store-redis'
import { createClient } from 'redis'
import { brokerClients, tokenBroker } from '../../dist/index.js'

const [authUrl, redisUrl] = process.argv.slice(2)
const client = createClient({ url: redisUrl })
client.on('error', () => undefined)
await client.connect()
const store = redisTokenStore({ client })
const tokens = createTokenManager({ issuer: createSso({ authUrl }), store })
const clients = brokerClients({ store })
const server = await tokenBroker({ tokens, clients }).listen({ port: 0 })
console.log(server.url)
