/** The clients that an application brings: axios for calls of the owner API, a client of Redis for its store. */
import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { freePort, write } from '../project.mjs'
import { printsVehicles } from '../sign-in.mjs'

const signedIn = (store) => `
import { createSso, createTokenManager } from '@owner-sso/core'
const { OWNER_SSO_ACCOUNT: account, OWNER_SSO_CREDENTIAL: credential, OWNER_SSO_AUTH_URL: authUrl } = process.env
const { OWNER_SSO_API_URL: target } = process.env
const sso = createSso({ authUrl })
const tokens = createTokenManager({ sso, store: ${store} })
await tokens.save(account, await sso.login({ identity: account, credential }))
`

const withAxios = `
import axios from 'axios'
import { attachBearer } from '@owner-sso/express'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
${signedIn('memoryTokenStore()')}
const http = attachBearer(axios.create({ baseURL: target }), { tokens, account })
console.log(JSON.stringify((await http.get('/api/1/vehicles')).data))
`

const withRedis = (connect) => `
import { ownerFetch } from '@owner-sso/express'
import { redisTokenStore } from '@owner-sso/token-store-redis'
${connect}
${signedIn('redisTokenStore({ client })')}
console.log(await (await ownerFetch({ tokens, account, target })('/api/1/vehicles')).text())
process.exit(0)
`

const nodeRedis = `
import { createClient } from 'redis'
const client = await createClient({ url: process.env.REDIS_URL }).connect()`
const ioredis = `
import { Redis } from 'ioredis'
const client = new Redis(process.env.REDIS_URL)`

const clients = [
  ...['1.7.9', '1.12', '1'].map((version) => ({ subject: 'axios', name: 'axios', version, program: withAxios })),
  ...['5', '6'].map((version) => ({ subject: 'Redis clients', name: 'redis', version, program: withRedis(nodeRedis) })),
  ...['5', '6'].map((version) => ({ subject: 'Redis clients', name: 'ioredis', version, program: withRedis(ioredis) })),
]

/** A real server, on a port of its own, that keeps nothing. */
async function redisServer(folder) {
  const port = await freePort()
  const server = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', mkdtempSync(join(folder, 'redis-'))],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  await new Promise((resolve, reject) => {
    server.once('error', reject).once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)))
    server.stdout.on('data', (text) => String(text).includes('Ready to accept connections') && resolve())
  })
  return { url: `redis://127.0.0.1:${port}`, stop: () => server.kill() }
}

export const otherClients = {
  title: 'Clients',
  prepare: () => undefined,
  rows: clients.map(({ subject, name, version, program }) => ({
    name: `${name} ${version}`,
    covers: { [subject]: `${name === 'redis' ? 'node-redis' : name} ${version}` },
    async run(_state, { project, folder }) {
      const ours = ['core', 'express', 'token-store-memory', 'token-store-redis'].map((each) => `@owner-sso/${each}`)
      const here = await project(...ours, `${name}@${version}`)
      write(here, 'program.mjs', program)
      const redis = subject === 'axios' ? undefined : await redisServer(folder)
      try {
        await printsVehicles(process.execPath, ['program.mjs'], { cwd: here, env: { REDIS_URL: redis?.url ?? '' } })
      } finally {
        redis?.stop()
      }
    },
  })),
}
