import { describe, expect, it } from '@jest/globals'
import { useEmulator } from '../../src/jest.ts'
import { Client, json } from '../client.ts'

const emulator = useEmulator()

describe('bodyLength', () => {
  it.each([0, 1, 60])('cuts the body to %i bytes, with a Content-Length that fits', async (bytes) => {
    const { refresh_token } = await emulator.issueTokens('plain@example.com')
    emulator.once('refresh', { bodyLength: bytes })
    const answer = await new Client(emulator).refresh(refresh_token)
    expect(answer.headers.get('content-length')).toBe(String(bytes))
    expect(answer.text).toBe('{"access_token":"'.padEnd(bytes, answer.text.slice(17)).slice(0, bytes))
    expect(emulator.counters.tokenRefreshes).toBe(1)
  })

  it('fills it up with spaces, which change nothing in JSON', async () => {
    emulator.once('token', { bodyLength: 100_000 })
    const answer = await new Client(emulator).exchange('x')
    expect(answer.text).toHaveLength(100_000)
    expect(json(answer)['error']).toBe('invalid_grant')
  })

  it('sizes a body that is answered in place, and one of the owner API', async () => {
    emulator.once('token', { status: 503, body: 'No.', bodyLength: 2 })
    expect((await new Client(emulator).exchange('x')).text).toBe('No')
    const { access_token } = await emulator.issueTokens('plain@example.com')
    emulator.once('owner-api', { bodyLength: 3 })
    const headers = { authorization: `Bearer ${access_token}` }
    expect(await (await fetch(`${emulator.ownerApiUrl}/api/1/bytes/10`, { headers })).text()).toBe('xxx')
  })
})
