import { expect, it } from '@jest/globals'
import { isSoak } from '../../../tests/support/runs.ts'
import { useEmulator } from '../src/jest.ts'
import { Client, codeOf, demoCredential, json } from './client.ts'

/** A busy machine resets what comes on top of the queue of a listening socket (511 with Node). */
const count = isSoak ? 500 : 200

const emulator = useEmulator({ firewall: false })

it('takes hundreds of logins at once, each at the same step, without an error', async () => {
  const clients = Array.from({ length: count }, () => new Client(emulator))
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
    expect(new Set(set.map(({ access_token }) => access_token)).size).toBe(count)
    expect(set.filter(({ token_type }) => token_type !== 'Bearer')).toEqual([])
  }
  expect(emulator.counters).toMatchObject({ loginPages: count, credentialChecks: count, codeExchanges: count })
  expect(emulator.counters).toMatchObject({ tokenRefreshes: count, replays: 0, challenges: 0 })
  expect(new Set(emulator.requests.map(({ status }) => status))).toEqual(new Set([200, 302]))
  expect(emulator.requests).toHaveLength(4 * count)
}, 120_000)
