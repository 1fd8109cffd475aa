/** A refresh that the token endpoint calls a wrong request, again and again. */
import { describe, expect, it } from '@jest/globals'
import { TokenRejectedError } from '../../src/index.ts'
import { account, type Bench, heardBy, signedIn } from './harness.ts'

const seconds = 1000
const minutes = 60_000
const hours = 60 * minutes

/** Expired tokens, and a service that refuses each refresh in these words. */
async function refusing(word: string, description?: string): Promise<Bench> {
  const { world } = await signedIn(9 * hours)
  world.answer = () => Promise.reject(new TokenRejectedError(word, { step: 'refresh', status: 400 }, description))
  return world
}

describe('a refresh that is rejected as invalid_request', () => {
  it('is made five times, with rests between them; then the owner signs in again, and hears why', async () => {
    const world = await refusing('invalid_request', 'Invalid resource')
    const tokens = world.process({ minRefreshInterval: 60 })
    const heard = heardBy(tokens, 'reauthentication-required')
    for (let minute = 0; minute < 60; minute += 1) {
      await tokens.getAccessToken(account).catch(() => undefined)
      await world.pass(minutes)
    }
    expect(world.sent).toEqual(['r0', 'r0', 'r0', 'r0', 'r0'])
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({
      code: 'ERR_SSO_REAUTHENTICATION_REQUIRED',
      reason: 'refresh_token_rejected',
      description: 'Invalid resource',
      message: expect.stringContaining('the service says “Invalid resource”'),
    })
    await expect(world.process().getAccessToken(account)).rejects.toMatchObject({ description: 'Invalid resource' })
    expect(heard).toEqual([{ account, reason: 'refresh_token_rejected' }])
    expect(world.sent).toHaveLength(5)
  })

  it('is counted for all processes, however short they live, and rests for all of them', async () => {
    const world = await refusing('invalid_request', 'Invalid resource')
    const once = (): Promise<unknown> =>
      world
        .process({ minRefreshInterval: 60 })
        .getAccessToken(account)
        .catch((error: unknown) => error)
    expect(await once()).toMatchObject({ code: 'ERR_SSO_TOKEN_REJECTED', requestSent: true })
    for (let turn = 0; turn < 10; turn += 1) {
      expect(await once()).toMatchObject({
        code: 'ERR_SSO_TOKEN_REJECTED',
        description: 'Invalid resource',
        requestSent: false,
      })
    }
    expect(world.sent).toHaveLength(1)
    for (let turn = 0; turn < 10; turn += 1) {
      await world.pass(8 * minutes)
      await once()
    }
    expect(world.sent).toHaveLength(5)
    expect(await once()).toMatchObject({ code: 'ERR_SSO_REAUTHENTICATION_REQUIRED' })
  })

  it('is forgotten with the first that succeeds', async () => {
    const world = await refusing('invalid_request')
    const tokens = world.process({ minRefreshInterval: 60 })
    const rejecting = world.answer
    for (let round = 1; round <= 3; round += 1) {
      world.answer = rejecting
      for (let turn = 0; turn < 4; turn += 1) {
        await expect(tokens.refresh(account)).rejects.toMatchObject({ code: 'ERR_SSO_TOKEN_REJECTED' })
        await world.pass(61 * seconds)
      }
      world.answer = async () => world.tokens({ access_token: `a${round}`, refresh_token: `r${round}` })
      await tokens.refresh(account)
      await expect(tokens.getAccessToken(account)).resolves.toBe(`a${round}`)
      await world.pass(61 * seconds)
    }
  })
})

it('any other rejection ends no session', async () => {
  const world = await refusing('invalid_client', 'Unknown client')
  const tokens = world.process({ minRefreshInterval: 0 })
  for (let turn = 0; turn < 12; turn += 1) {
    await expect(tokens.getAccessToken(account)).rejects.toMatchObject({ code: 'ERR_SSO_TOKEN_REJECTED' })
  }
  expect(await tokens.status(account)).toMatchObject({ state: 'expired' })
})
