/** What our candidates have in common: the token manager with its defaults, as its README and the guide to refused tokens use it. */
import { createTokenManager } from '@owner-sso/token-manager'
import { issuerOf } from './issuer.mjs'

const account = 'owner@example.com'

export function openOurs(store, { tokenUrl }) {
  const issuer = issuerOf(tokenUrl)
  const tokens = createTokenManager({ issuer, store })
  const getAccessToken = () => tokens.getAccessToken(account)
  return {
    signIn: ({ expires_in, ...answer }) =>
      tokens.save(account, {
        ...answer,
        expires_at: Math.floor(Date.now() / 1000) + expires_in,
        auth_url: issuer.authUrl,
      }),
    getAccessToken,
    async refused(accessToken) {
      await tokens.invalidate(account, accessToken)
      return getAccessToken()
    },
    accepted: (accessToken) => tokens.accepted(account, accessToken),
    settled: () => tokens.settled(),
  }
}
