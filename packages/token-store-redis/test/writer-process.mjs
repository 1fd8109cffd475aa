/** What a killed writer runs: `node writer-process.mjs <client> <ports> <prefix> <account>`; prints each acknowledged version. */
import { writeSync } from 'node:fs'
import { writeUntilKilled } from '@owner-sso/token-store-conformance'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster } from 'redis'
import { redisTokenStore } from '../dist/index.js'

const [, , kind, list, prefix, account] = process.argv
const ports = list.split(',').map(Number)
const url = `redis://127.0.0.1:${ports[0]}`
const clients = {
  'node-redis': () => createClient({ url }).connect(),
  'node-redis-cluster': () => createCluster({ rootNodes: [{ url }] }).connect(),
  ioredis: () => new Redis(url),
  'ioredis-cluster': () => new Cluster([{ host: '127.0.0.1', port: ports[0] }]),
}
const client = await clients[kind]()
await writeUntilKilled(redisTokenStore({ client, prefix }), account, (version) => writeSync(1, `${version}\n`))
