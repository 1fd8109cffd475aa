/**
 * passport-oauth2-refresh: `requestNewAccessToken` when the owner API refuses the access token, as the issue shows that its README names as the
 * example (https://github.com/fiznool/passport-oauth2-refresh/issues/1). A refresh token that comes back is kept, else the former one.
 */
export const about = {
  name: 'passport-oauth2-refresh',
  packages: ['passport-oauth2-refresh', 'passport-oauth2'],
  documentation: 'https://github.com/fiznool/passport-oauth2-refresh#usage',
  alone: 'It has nothing for several processes, nor a place for tokens.',
  store: 'file',
  worst: 'an answer lost on its way',
  because: 'the next 401 sends the same refresh token again. Nobody could do better than not to send it.',
}

export async function open({ settings, service: { tokenUrl: tokenURL } }) {
  const { Strategy } = (await import('passport-oauth2')).default
  const { default: refreshing } = await import('passport-oauth2-refresh')
  const { openByHand } = await import('../applications/hand-written.mjs')
  const client = { authorizationURL: tokenURL, tokenURL, clientID: 'torture', clientSecret: 'secret' }
  refreshing.use('service', new Strategy(client, (...args) => args.at(-1)(null, {})))
  const refreshed = (refreshToken) =>
    new Promise((resolve, reject) => {
      refreshing.requestNewAccessToken('service', refreshToken, (error, access_token, refresh_token) => {
        if (error) reject(Object.assign(new Error('no new access token'), { code: error.statusCode ?? error.code }))
        else resolve({ access_token, refresh_token })
      })
    })
  return openByHand(settings, refreshed)
}
