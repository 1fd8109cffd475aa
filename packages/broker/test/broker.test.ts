/** What a client sees of the broker: the service's own words, with the one sign-in behind them. */
import { expect, it } from '@jest/globals'
import { account, startHome, tokensIn } from './broker-home.ts'

it('answers a refresh with the real access token and the client’s own refresh token', async () => {
  await using home = await startHome()
  const secret = await home.invite('thermostat')
  const answer = await home.refresh(secret)
  expect(answer.status).toBe(200)
  expect(answer.headers.get('cache-control')).toBe('no-store')
  const tokens = await tokensIn(answer)
  expect(tokens).toMatchObject({ access_token: await home.tokens.getAccessToken(account), refresh_token: secret })
  expect(tokens).toMatchObject({ token_type: 'Bearer' })
  expect(tokens.expires_in).toBeGreaterThan(28_000)
  expect(home.emulator.counters.tokenRefreshes).toBe(0)
})
