/** openid-client: `refreshTokenGrant` by hand when the access token has ended, the answer kept in a file. */
export const about = {
  name: 'openid-client by hand',
  packages: ['openid-client'],
  documentation: 'https://github.com/panva/openid-client/blob/main/docs/functions/refreshTokenGrant.md',
  alone: 'It has nothing for several processes, nor a place for tokens.',
  store: 'file',
  worst: 'a process frozen for three minutes',
  because:
    'when the process goes on, its limit of 30 s (`AbortSignal.timeout`) is over before the answer is read that has been there all the time.',
}

export async function open({ settings, service: { issuer, tokenUrl } }) {
  const oidc = await import('openid-client')
  const { openByHand } = await import('../applications/hand-written.mjs')
  const config = new oidc.Configuration({ issuer, token_endpoint: tokenUrl }, 'torture', 'secret')
  oidc.allowInsecureRequests(config)
  const refreshed = (refreshToken) => oidc.refreshTokenGrant(config, refreshToken)
  return openByHand(settings, refreshed, ({ expires_at }) => Date.now() >= expires_at)
}
