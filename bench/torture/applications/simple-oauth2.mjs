/** What both candidates with simple-oauth2 do under their lock: look whether somebody has refreshed, else `refresh()`, and write what comes to Redis. */
import { AuthorizationCode } from 'simple-oauth2'
import { singleFlight } from './hand-written.mjs'

const key = 'tokens:owner'

/** @param withLock - runs a function while no other process does */
export function openSimpleOauth2({ redis, withLock, tokenUrl }) {
  const { origin: tokenHost, pathname: tokenPath } = new URL(tokenUrl)
  const client = new AuthorizationCode({ client: { id: 'torture', secret: 'secret' }, auth: { tokenHost, tokenPath } })
  const load = async () => client.createToken(JSON.parse(await redis.get(key)))
  const save = (accessToken) => redis.set(key, JSON.stringify(accessToken))

  let refused
  const isDue = (each) => each.expired() || each.token.access_token === refused
  const refresh = singleFlight(() =>
    withLock(async () => {
      let accessToken = await load()
      if (isDue(accessToken)) {
        accessToken = await accessToken.refresh()
        await save(accessToken)
      }
      return accessToken.token.access_token
    }),
  )
  return {
    signIn: async (answer) => save(client.createToken(answer)),
    async getAccessToken() {
      const accessToken = await load()
      if (!accessToken.expired()) return accessToken.token.access_token
      return refresh()
    },
    refused(token) {
      refused = token
      return refresh()
    },
  }
}
