import { describe, expect, it } from '@jest/globals'
import type { Strictness } from '../../src/index.ts'
import { useEmulator } from '../../src/jest.ts'
import { type ClientResponse, Client, codeOf } from '../client.ts'

const identity = 'plain@example.com'
const document = useEmulator()
const lenient = useEmulator({ strictness: 'lenient' })
const modes = ['document', 'lenient'] as const
const emulatorOf = (mode: Strictness): typeof document => (mode === 'document' ? document : lenient)

/** An answer that says no: its status, and what it says. */
function expectRefusal(answer: ClientResponse, status: number, words: string): void {
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(words)])
}

describe('a code inside a list', () => {
  it('is taken with strictness lenient alone, and a list of two in no mode', async () => {
    const exchange = async (mode: Strictness, list: (code: string) => readonly string[]): Promise<ClientResponse> => {
      const client = new Client(emulatorOf(mode))
      return client.exchange('', { code: list(codeOf((await client.authorize(identity)).answer)) })
    }
    expect((await exchange('lenient', (code) => [code])).status).toBe(200)
    expectRefusal(await exchange('document', (code) => [code]), 400, 'Missing code (a string)')
    expectRefusal(await exchange('lenient', (code) => [code, code]), 400, 'Missing code (a string)')
  })
})

describe('a locale before the path', () => {
  it('is ignored with strictness lenient alone', async () => {
    const ask = (mode: Strictness, path: string): Promise<ClientResponse> => {
      const client = new Client(emulatorOf(mode))
      return client.send(`${path}/oauth2/v3/authorize?${client.query().toString()}`)
    }
    expect((await ask('lenient', '/en_us')).status).toBe(200)
    expect(lenient.requests.at(-1)?.path).toBe('/en_us/oauth2/v3/authorize')
    expect((await ask('lenient', '/english')).status).toBe(404)
    expect((await ask('document', '/en_us')).status).toBe(404)
  })
})

describe('a redirect URI of the client’s own', () => {
  const open = async (mode: Strictness, redirect_uri: string): Promise<number> =>
    (await new Client(emulatorOf(mode)).open({ redirect_uri })).page.status

  it.each(['https://auth.example.com/void/callback', 'owner-app://auth/callback'])(
    '%s is taken with strictness lenient alone',
    async (uri) => {
      expect(await open('lenient', uri)).toBe(200)
      expect(await open('document', uri)).toBe(400)
      lenient.change({ redirectUris: ['https://example.com/callback'] })
      expect(await open('lenient', uri)).toBe(400)
    },
  )

  it('is rejected with another path in any mode', async () => {
    for (const mode of modes) expect(await open(mode, 'https://auth.example.com/elsewhere')).toBe(400)
  })
})
