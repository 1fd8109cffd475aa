/**
 * The cold start of a function: import, then a first access token by a refresh token: `node bench/cold-start.mjs [ROUNDS]`, after
 * `npm run build`. All candidates in turns, each in a process of its own, against the same token endpoint.
 *
 * CPU time of the whole process, least of all rounds, since wall-clock time on a shared machine tells of its other users.
 * Ratios count, times do not. The peers keep nothing; ours reads its record from a store and writes it back twice.
 */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { promisify } from 'node:util'

const rounds = Number(process.argv[2] ?? 15)

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.setHeader('content-type', 'application/json')
    response.end('{"access_token":"a1","refresh_token":"r1","token_type":"Bearer","expires_in":28800}')
  })
}).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${server.address().port}`

const stored = `{ access_token: 'a0', refresh_token: 'r0', token_type: 'Bearer', expires_at: 1, auth_url: '${url}' }`
const openidClient = import.meta.resolve('openid-client')
const candidates = {
  'bare node': '',
  'owner-sso, import': `await import('@owner-sso/core'); await import('@owner-sso/token-store-memory')`,
  'owner-sso, first token': `
    const { createSso, createTokenManager } = await import('@owner-sso/core')
    const { memoryTokenStore } = await import('@owner-sso/token-store-memory')
    const tokens = createTokenManager({ issuer: createSso({ authUrl: '${url}' }), store: memoryTokenStore(), background: false })
    await tokens.save('ann', ${stored})
    if ((await tokens.getAccessToken('ann')) !== 'a1') throw new Error('no token')`,
  'owner-sso, first token of oauthIssuer': `
    const { createTokenManager } = await import('@owner-sso/token-manager')
    const { oauthIssuer } = await import('@owner-sso/token-manager/oauth')
    const { memoryTokenStore } = await import('@owner-sso/token-store-memory')
    const issuer = oauthIssuer({ tokenUrl: '${url}/token', clientId: 'id', clientSecret: 'secret' })
    const tokens = createTokenManager({ issuer, store: memoryTokenStore(), background: false })
    await tokens.save('ann', { access_token: 'a0', refresh_token: 'r0', expires_at: 1_700_000_000 })
    if ((await tokens.getAccessToken('ann')) !== 'a1') throw new Error('no token')`,
  'openid-client, import': `await import('${openidClient}')`,
  'openid-client, first token': `
    const client = await import('${openidClient}')
    const config = new client.Configuration({ issuer: '${url}', token_endpoint: '${url}/token' }, 'id', 'secret')
    client.allowInsecureRequests(config)
    if ((await client.refreshTokenGrant(config, 'r0')).access_token !== 'a1') throw new Error('no token')`,
  'google-auth-library, import': `await import('google-auth-library')`,
  'google-auth-library, first token': `
    const { OAuth2Client } = await import('google-auth-library')
    const client = new OAuth2Client({ clientId: 'id', clientSecret: 'secret', endpoints: { oauth2TokenUrl: '${url}/token' } })
    client.setCredentials({ refresh_token: 'r0' })
    if ((await client.getAccessToken()).token !== 'a1') throw new Error('no token')`,
}

try {
  const least = Object.fromEntries(Object.keys(candidates).map((name) => [name, Number.POSITIVE_INFINITY]))
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, program] of Object.entries(candidates)) least[name] = Math.min(least[name], await run(program))
  }
  const floor = least['bare node']
  const row = (ms) => ({
    'CPU ms': Math.round(ms),
    'beyond bare node': Math.round(ms - floor),
    ratio: Number((ms / floor).toFixed(2)),
  })
  console.table(Object.fromEntries(Object.entries(least).map(([name, ms]) => [name, row(ms)])))
} finally {
  server.close()
}

/** Milliseconds of CPU time from the start of a process to the end of its program. */
async function run(program) {
  const told = `${program}\nconst { user, system } = process.cpuUsage(); console.log((user + system) / 1000); process.exit(0)`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', told], {
    cwd: import.meta.dirname,
  })
  return Number(stdout)
}
