/** Several instances over one Redis, as real processes: to a client they are one broker. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it } from '@jest/globals'
import { startEmulator } from '@owner-sso/emulator'
import { redisTokenStore } from '@owner-sso/token-store-redis'
import { createClient } from 'redis'
import { describeWithRedis, startRedis } from '../../../tests/support/redis-server.ts'
import { brokerClients } from '../src/index.ts'
import { account, refreshAt, signedIn, tokensIn } from './broker-home.ts'

const program = fileURLToPath(new URL('instances/instance.mjs', import.meta.url))
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Resolves to the instance's address. */
async function startInstance(authUrl: string, redisUrl: string): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [program, authUrl, redisUrl], { stdio: ['ignore', 'pipe', 'inherit'] })
  ends.push(() => child.kill('SIGKILL'))
  const [url] = await once(createInterface({ input: child.stdout }), 'line')
  return { url: String(url), child }
}

describeWithRedis('instances over one Redis', () => {
  it('share clients, revocation and the one sign-in, and lose none of it when one dies', async () => {
    const redis = await startRedis()
    ends.push(() => redis.kill())
    const emulator = await startEmulator()
    ends.push(() => emulator.close())
    const client = createClient({ url: redis.url })
    client.on('error', () => undefined)
    await client.connect()
    ends.push(() => client.destroy())
    const store = redisTokenStore({ client })
    await signedIn(emulator, store)
    const clients = brokerClients({ store })
    const [first, second] = await Promise.all([
      startInstance(emulator.authUrl, redis.url),
      startInstance(emulator.authUrl, redis.url),
    ])
    const { refresh_token: secret } = await clients.invite({ name: 'thermostat', accounts: [account] })
    const other = (await clients.invite({ name: 'other', accounts: [account] })).refresh_token

    // The client's own token is good at each instance.
    const seen = new Set<string>()
    for (let turn = 0; turn < 6; turn += 1) {
      const answer = await refreshAt([first, second][turn % 2]!.url, secret)
      expect(answer.status).toBe(200)
      const tokens = await tokensIn(answer)
      seen.add(tokens.access_token)
    }
    expect(seen.size).toBe(1)

    // What one process refreshes, every instance hands out.
    const tokens = await signedIn(emulator, store)
    await tokens.refresh(account)
    const fresh = await tokens.getAccessToken(account)
    const after = await Promise.all([first, second].map(async ({ url }) => tokensIn(await refreshAt(url, other))))
    expect(after.map(({ access_token }) => access_token)).toEqual([fresh, fresh])
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, replays: 0 })

    // A revocation counts everywhere at once, and a death takes nothing along.
    await clients.revoke('other')
    for (const { url } of [first, second]) expect((await refreshAt(url, other)).status).toBe(400)
    first.child.kill('SIGKILL')
    expect((await refreshAt(second.url, secret)).status).toBe(200)
    await redis.kill()
    // Without the store the current token is served, and the client keeps the refresh token that it has.
    const answer = await refreshAt(second.url, secret)
    expect([answer.status, (await tokensIn(answer)).refresh_token]).toEqual([200, secret])
  }, 60_000)
})
