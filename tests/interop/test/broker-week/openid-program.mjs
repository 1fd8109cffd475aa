/** openid-client, with the broker's token endpoint in place of the service's: it refreshes before each call. */
import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
import * as client from 'openid-client'

const { BROKER_URL, BROKER_KEY, OWNER_API_URL, ISSUER } = process.env
const server = { issuer: ISSUER, token_endpoint: `${BROKER_URL}/oauth2/v3/token` }
const config = new client.Configuration(server, 'ownerapi', { id_token_signed_response_alg: 'ES256' }, client.None())
client.allowInsecureRequests(config)

let refreshToken = BROKER_KEY
for await (const _ of createInterface({ input: process.stdin })) {
  const { access_token: accessToken, refresh_token: next } = await client.refreshTokenGrant(config, refreshToken)
  refreshToken = next ?? refreshToken
  const address = new URL(`${OWNER_API_URL}/api/1/vehicles`)
  const { status } = await client.fetchProtectedResource(config, accessToken, address, 'GET')
  console.log(`${status} ${createHash('sha256').update(accessToken).digest('hex').slice(0, 12)}`)
}
