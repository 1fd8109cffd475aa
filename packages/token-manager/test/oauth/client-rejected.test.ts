/** A secret that is wrong: nothing is spent, all accounts rest, and one alert tells it. */
import { afterEach, beforeEach, expect, it } from '@jest/globals'
import { createTokenManager, sweepOnce, type TokenManager, type TokenStore } from '../../src/index.ts'
import { oauthIssuer } from '../../src/oauth/oauth-issuer.ts'
import { mapStore } from '../../../../tests/support/map-store.ts'
import { rotating, type SmallProvider, startSmallProvider } from './small-provider.ts'

const accounts = Array.from({ length: 20 }, (_, index) => `account-${index}`)
const rejected = { status: 401, body: { error: 'invalid_client', error_description: 'Client authentication failed' } }

let provider: SmallProvider
let store: TokenStore
beforeEach(async () => {
  provider = await startSmallProvider()
  store = mapStore()
})
afterEach(() => provider.close())

/** A process of the application. */
function started(alerts: object[], clientSecret = 'wrong'): TokenManager {
  const issuer = oauthIssuer({ tokenUrl: provider.tokenUrl, clientId: 'app', clientSecret })
  const tokens = createTokenManager({ issuer, store, minRefreshInterval: 0 })
  tokens.on('client-rejected', (alert) => alerts.push(alert))
  return tokens
}

it('sends one request for all accounts in all processes, and alerts once', async () => {
  const alerts: object[] = []
  const fleet = [started(alerts), started(alerts)]
  for (const account of accounts) {
    await fleet[0]?.save(account, { access_token: 'a', refresh_token: `r-${account}`, expires_at: 1_700_000_000 })
  }
  provider.answer = rejected
  await expect(fleet[0]?.getAccessToken('account-0')).rejects.toMatchObject({
    name: 'ClientRejectedError',
    code: 'ERR_SSO_TOKEN_REJECTED',
    error: 'invalid_client',
    requestSent: true,
  })
  const answers = await Promise.allSettled(
    fleet.flatMap((tokens) => accounts.map((account) => tokens.getAccessToken(account))),
  )
  for (const answer of answers) {
    expect(answer).toMatchObject({ status: 'rejected', reason: { error: 'invalid_client' } })
    expect(answer).toHaveProperty('reason.message', expect.stringContaining('client’s id, secret or key'))
  }
  expect(provider.requests).toHaveLength(1)
  expect(alerts).toMatchObject([
    {
      auth_url: `${provider.tokenUrl}#client=app`,
      error: { error: 'invalid_client' },
      nextAttemptAt: expect.any(Number),
    },
  ])
  // A sweep goes round none of them either.
  const swept = await sweepOnce(fleet[1] as TokenManager)
  expect([swept.failed, provider.requests.length]).toEqual([accounts.length, 1])
})

it('alerts once where many meet it at the same time', async () => {
  const alerts: object[] = []
  const fleet = [started(alerts), started(alerts)]
  for (const account of accounts) {
    await fleet[0]?.save(account, { access_token: 'a', refresh_token: `r-${account}`, expires_at: 1_700_000_000 })
  }
  provider.answer = rejected
  await Promise.allSettled(fleet.flatMap((tokens) => accounts.map((account) => tokens.getAccessToken(account))))
  expect(alerts).toHaveLength(1)
})

it('has spent nothing: once the secret is right, each account goes on where it was', async () => {
  const alerts: object[] = []
  const tokens = started(alerts)
  await tokens.save('ann', { access_token: 'a', refresh_token: 'r0', expires_at: 1_700_000_000 })
  provider.answer = rejected
  await expect(tokens.getAccessToken('ann')).rejects.toMatchObject({ error: 'invalid_client' })
  expect(await tokens.status('ann')).toMatchObject({ state: 'expired' })
  provider.answer = rotating()
  const later = Date.now
  try {
    // After the rest, which is five minutes at the most.
    Date.now = () => later() + 301_000
    const corrected = started(alerts, 'right')
    expect(await corrected.getAccessToken('ann')).toBe('a1')
  } finally {
    Date.now = later
  }
  expect(provider.requests.map(({ parameters }) => parameters['refresh_token'])).toEqual(['r0', 'r0'])
  expect(alerts).toHaveLength(1)
})
