/**
 * passport-oauth2-refresh: `requestNewAccessToken` when the owner API refuses the access token, as the issue shows that its README names as the
 * example (https://github.com/fiznool/passport-oauth2-refresh/issues/1). A refresh token that comes back is kept, else the former one.
 */
export const about = {
  name: 'passport-oauth2-refresh',
  packages: ['passport-oauth2-refresh', 'passport-oauth2'],
  documentation: 'https://github.com/fiznool/passport-oauth2-refresh#usage',
  processes: 1,
  alone: 'It has nothing for several processes, nor a place for tokens.',
  store: 'file',
  worst: {
    fault: 'an answer lost on its way',
    why: 'the next 401 sends the same refresh token again. Nobody could do better than not to send it.',
  },
}

export async function open({ settings, service }) {
  const { Strategy } = (await import('passport-oauth2')).default
  const { default: refreshing } = await import('passport-oauth2-refresh')
  const { oneFile } = await import('./shared/one-file.mjs')
  const { singleFlight } = await import('./shared/single-flight.mjs')
  const { tokenUrl: tokenURL } = service
  const client = { authorizationURL: tokenURL, tokenURL, clientID: 'torture', clientSecret: 'secret' }
  refreshing.use('service', new Strategy(client, (...args) => args.at(-1)(null, {})))
  const file = oneFile(settings)
  let tokens = await file.load()

  async function keep({ access_token, refresh_token = tokens.refresh_token }) {
    tokens = { access_token, refresh_token }
    await file.save(tokens)
  }
  const requestNewAccessToken = () =>
    new Promise((resolve, reject) => {
      refreshing.requestNewAccessToken('service', tokens.refresh_token, (error, access_token, refresh_token) => {
        if (error) reject(Object.assign(new Error('no new access token'), { code: error.statusCode ?? error.code }))
        else resolve({ access_token, refresh_token })
      })
    })
  const refresh = singleFlight(async () => keep(await requestNewAccessToken()))
  return {
    signIn: keep,
    getAccessToken: async () => tokens.access_token,
    async refused(accessToken) {
      if (tokens.access_token === accessToken) await refresh()
      return tokens.access_token
    },
  }
}
