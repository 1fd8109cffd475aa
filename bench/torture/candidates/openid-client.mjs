/** openid-client: `refreshTokenGrant` by hand when the access token has ended, the answer kept in a file. */
export const about = {
  name: 'openid-client by hand',
  packages: ['openid-client'],
  documentation: 'https://github.com/panva/openid-client/blob/main/docs/functions/refreshTokenGrant.md',
  processes: 1,
  alone: 'It has nothing for several processes, nor a place for tokens.',
  store: 'file',
  worst: {
    fault: 'a process frozen for three minutes',
    why: 'when the process goes on, its limit of 30 s (`AbortSignal.timeout`) is over before the answer is read that has been there all the time.',
  },
}

export async function open({ settings, service }) {
  const oidc = await import('openid-client')
  const { oneFile } = await import('./shared/one-file.mjs')
  const { singleFlight } = await import('./shared/single-flight.mjs')
  const { issuer, tokenUrl } = service
  const config = new oidc.Configuration({ issuer, token_endpoint: tokenUrl }, 'torture', 'secret')
  oidc.allowInsecureRequests(config)
  const file = oneFile(settings)
  let tokens = await file.load()

  async function keep({ access_token, refresh_token = tokens.refresh_token, expires_in }) {
    tokens = { access_token, refresh_token, expires_at: Date.now() + expires_in * 1000 }
    await file.save(tokens)
  }
  const refresh = singleFlight(async () => keep(await oidc.refreshTokenGrant(config, tokens.refresh_token)))
  return {
    signIn: keep,
    async getAccessToken() {
      if (Date.now() >= tokens.expires_at) await refresh()
      return tokens.access_token
    },
    async refused(accessToken) {
      if (tokens.access_token === accessToken) await refresh()
      return tokens.access_token
    },
  }
}
