/**
 * google-auth-library. Its README has the event `tokens`, whose listener stores the new refresh token, and `setCredentials`, which hands a stored
 * one back. After a refresh the client itself keeps the refresh token that it had (`refreshAccessTokenAsync`), since Google's stay the same. So
 * the listener hands the new one back at once: without this line, which is not in the README, the second refresh would be a replay.
 */
export const about = {
  name: 'google-auth-library',
  packages: ['google-auth-library'],
  documentation: 'https://github.com/googleapis/google-auth-library-nodejs#oauth2',
  alone: 'It has nothing for several processes.',
  store: 'file',
  worst: 'an answer lost on its way',
  because: 'the next call sends the same refresh token again. Nobody could do better than not to send it.',
}

export async function open({ settings, service }) {
  const { OAuth2Client } = await import('google-auth-library')
  const { oneFile } = await import('../applications/hand-written.mjs')
  const file = oneFile(settings)
  const endpoints = { oauth2TokenUrl: service.tokenUrl }
  const client = new OAuth2Client({ clientId: 'torture', clientSecret: 'secret', endpoints })
  client.setCredentials(await file.load())
  client.on('tokens', (tokens) => {
    const { refresh_token = client.credentials.refresh_token } = tokens
    client.setCredentials({ ...tokens, refresh_token })
    // An event has nobody who waits for its listener, nor hears its error.
    file.save(client.credentials).catch(() => {})
  })
  return {
    async signIn({ expires_in, ...tokens }) {
      client.setCredentials({ ...tokens, expiry_date: Date.now() + expires_in * 1000 })
      await file.save(client.credentials)
    },
    getAccessToken: async () => (await client.getAccessToken()).token,
    // As its own `request` does after a 401 (`forceRefreshOnFailure`).
    refused: async () => (await client.refreshAccessToken()).credentials.access_token,
  }
}
