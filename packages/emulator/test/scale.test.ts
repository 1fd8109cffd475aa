import { expect, it } from '@jest/globals'
import { useEmulator } from '../src/jest.ts'
import { Client, codeOf, demoCredential, json } from './client.ts'

const emulator = useEmulator({ firewall: false })

it('takes a thousand logins at once, each at the same step, without an error', async () => {
  const clients = Array.from({ length: 1000 }, () => new Client(emulator))
  const pages = await Promise.all(clients.map(async (client) => ({ client, ...(await client.open()) })))
  const forms = await Promise.all(
    pages.map(async ({ client, hidden }) => ({
      client,
      answer: await client.post({ ...hidden, identity: 'plain@example.com', credential: demoCredential }),
    })),
  )
  const tokens = await Promise.all(forms.map(async ({ client, answer }) => json(await client.exchange(codeOf(answer)))))
  const fresh = await Promise.all(
    clients.map(async (client, index) => json(await client.refresh(tokens[index]?.['refresh_token']))),
  )
  for (const set of [tokens, fresh]) {
    expect(new Set(set.map(({ access_token }) => access_token)).size).toBe(1000)
    expect(set.filter(({ token_type }) => token_type !== 'Bearer')).toEqual([])
  }
  expect(emulator.counters).toMatchObject({ loginPages: 1000, credentialChecks: 1000, codeExchanges: 1000 })
  expect(emulator.counters).toMatchObject({ tokenRefreshes: 1000, replays: 0, challenges: 0 })
  expect(new Set(emulator.requests.map(({ status }) => status))).toEqual(new Set([200, 302]))
  expect(emulator.requests).toHaveLength(4000)
}, 120_000)
