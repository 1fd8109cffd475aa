import { describe, expect, it } from '@jest/globals'
import { startEmulator, type Emulator, type EmulatorOptions } from '../../src/index.ts'
import { Client, json } from '../client.ts'

const identity = 'plain@example.com'

async function started(options: EmulatorOptions): Promise<{ emulator: Emulator; client: Client; first: string }> {
  const emulator = await startEmulator(options)
  const { refresh_token } = await emulator.issueTokens(identity)
  return { emulator, client: new Client(emulator), first: refresh_token }
}

describe('rotation', () => {
  it('single-use (default): a new token comes, the old one is dead, and the service counts the replay', async () => {
    const { emulator, client, first } = await started({})
    await using _ = emulator
    const second = json(await client.refresh(first))['refresh_token']
    expect(second).not.toBe(first)
    expect(json(await client.refresh(first))).toMatchObject({ error: 'login_required' })
    expect((await client.refresh(second)).status).toBe(200)
    expect(emulator.counters).toMatchObject({ refreshRequests: 3, tokenRefreshes: 2, replays: 1 })
  })

  it('gives new tokens to one of many simultaneous refreshes with one token', async () => {
    const { emulator, client, first } = await started({})
    await using _ = emulator
    const answers = await Promise.all(Array.from({ length: 10 }, () => client.refresh(first)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, replays: 9 })
  })

  it('same: the token comes back and is never spent', async () => {
    const { emulator, client, first } = await started({ rotation: 'same' })
    await using _ = emulator
    for (let round = 0; round < 2; round += 1) expect(json(await client.refresh(first))['refresh_token']).toBe(first)
    expect(emulator.counters.replays).toBe(0)
  })

  it('omit: none comes and the old one stays', async () => {
    const { emulator, client, first } = await started({ rotation: 'omit' })
    await using _ = emulator
    for (let round = 0; round < 2; round += 1) {
      const answer = await client.refresh(first)
      expect(answer.status).toBe(200)
      expect(json(answer)).not.toHaveProperty('refresh_token')
    }
  })
})

describe('what a spent token gets', () => {
  it('revoke-family: its successors and access tokens die with it, those of another sign-in live', async () => {
    const { emulator, client, first } = await started({ reuse: 'revoke-family' })
    await using _ = emulator
    const other = await emulator.issueTokens(identity)
    const second = json(await client.refresh(first))
    expect(json(await client.refresh(first))).toMatchObject({ error: 'login_required' })
    expect(json(await client.refresh(second['refresh_token']))).toMatchObject({ error: 'login_required' })
    expect(await ownerApiStatus(emulator, second['access_token'])).toBe(401)
    expect(await ownerApiStatus(emulator, other.access_token)).toBe(200)
    expect((await client.refresh(other.refresh_token)).status).toBe(200)
  })

  it('grace: the same answer again until the time is over or its successor was used', async () => {
    const { emulator, client, first } = await started({ reuse: 'grace' })
    await using _ = emulator
    const answer = await client.refresh(first)
    const again = await client.refresh(first)
    expect(again.text).toBe(answer.text)
    expect(emulator.counters).toMatchObject({ tokenRefreshes: 1, replays: 1 })
    emulator.clock.advance(61)
    expect(json(await client.refresh(first))).toMatchObject({ error: 'login_required' })

    const next = json(answer)['refresh_token']
    await client.refresh(json(await client.refresh(next))['refresh_token'])
    expect(json(await client.refresh(next))).toMatchObject({ error: 'login_required' })
  })

  it('grace-stale: new access tokens, with the spent refresh token in the answer', async () => {
    const { emulator, client, first } = await started({ reuse: 'grace-stale' })
    await using _ = emulator
    await client.refresh(first)
    const again = json(await client.refresh(first))
    expect(again['refresh_token']).toBe(first)
    expect(await ownerApiStatus(emulator, again['access_token'])).toBe(200)
  })
})

async function ownerApiStatus(emulator: Emulator, token: string | undefined): Promise<number> {
  const answer = await fetch(`${emulator.ownerApiUrl}/api/1/vehicles`, {
    headers: { authorization: `Bearer ${token}` },
  })
  await answer.arrayBuffer()
  return answer.status
}
