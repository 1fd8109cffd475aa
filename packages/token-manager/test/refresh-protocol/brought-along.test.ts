/** A refresh token that was brought along with the access token that was issued with it. */
import { expect, it } from '@jest/globals'
import { UnsecuredJWT } from 'jose'
import { createTokenManager, type TokenIssuer, type TokenManager } from '../../src/index.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'

const now = (): number => Math.floor(Date.now() / 1000)
const jwt = (claims: object): string => new UnsecuredJWT({ ...claims }).encode()
const account = 'ann@example.com'

function managed(): { readonly tokens: TokenManager; readonly refreshes: () => number } {
  let refreshes = 0
  const issuer: TokenIssuer = {
    authUrl: 'https://auth.example.com',
    async refresh(former) {
      refreshes += 1
      return { ...former, access_token: 'refreshed', refresh_token: 'next', expires_at: now() + 3600 }
    },
    isOfAnotherOwner: async ({ access_token }) => access_token === 'of somebody else',
  }
  return { tokens: createTokenManager({ issuer, store: mapStore() }), refreshes: () => refreshes }
}

it.each<[string, object, string]>([
  ['by the end that stands beside it', { access_token: 'kept', expires_at: now() + 3600 }, 'kept'],
  ['by its own end', { access_token: jwt({ exp: now() + 3600 }) }, jwt({ exp: now() + 3600 })],
  ['not when it has ended', { access_token: 'kept', expires_at: now() - 1 }, 'refreshed'],
  ['not when it says that it has ended', { access_token: jwt({ exp: now() - 1 }) }, 'refreshed'],
  ['not when nobody knows its end', { access_token: 'kept' }, 'refreshed'],
  ['not when there is none', {}, 'refreshed'],
])('An access token beside a refresh token is served while it lives: %s', async (_, more, served) => {
  const { tokens, refreshes } = managed()
  await tokens.save(account, { refresh_token: 'brought', ...more })
  expect(refreshes()).toBe(0)
  expect(await tokens.getAccessToken(account)).toBe(served)
  expect(refreshes()).toBe(served === 'refreshed' ? 1 : 0)
  await tokens.settled()
})

it('Neither replaces a session, nor is kept for another owner', async () => {
  const { tokens } = managed()
  const expires_at = now() + 3600
  await expect(
    tokens.save(account, { refresh_token: 'brought', access_token: 'of somebody else', expires_at }),
  ).rejects.toMatchObject({ name: 'OtherOwnerError' })
  expect((await tokens.status(account)).state).toBe('signed-out')
  const grant = { refresh_token: 'brought', access_token: 'kept', expires_at }
  await tokens.save(account, grant)
  await expect(tokens.save(account, { ...grant, refresh_token: 'other' })).rejects.toMatchObject({
    name: 'SessionExistsError',
  })
  expect(await tokens.getAccessToken(account)).toBe('kept')
})

it.each([
  ['tokens.access_token', { access_token: 7 }],
  ['tokens.access_token', { access_token: '' }],
  ['tokens.expires_at', { access_token: 'kept', expires_at: 'tomorrow' }],
])('A wrong %s is refused with its name', async (name, more) => {
  const { tokens } = managed()
  const grant = { refresh_token: 'brought', ...more } as never
  await expect(tokens.save(account, grant)).rejects.toThrow(new RegExp(`^${name} must be`, 'u'))
})
