/** What our candidates have in common: the token manager with its defaults, as the guide to any OAuth service has it. */
import { createTokenManager } from '@owner-sso/token-manager'
import { oauthIssuer } from '@owner-sso/token-manager/oauth'

const account = 'owner@example.com'

export function openOurs(store, { tokenUrl }) {
  const issuer = oauthIssuer({ tokenUrl, clientId: 'torture', clientSecret: 'secret' })
  const tokens = createTokenManager({ issuer, store })
  const getAccessToken = () => tokens.getAccessToken(account)
  return {
    signIn: (answer) => tokens.save(account, answer),
    getAccessToken,
    async refused(accessToken) {
      await tokens.invalidate(account, accessToken)
      return getAccessToken()
    },
    accepted: (accessToken) => tokens.accepted(account, accessToken),
    settled: () => tokens.settled(),
  }
}
