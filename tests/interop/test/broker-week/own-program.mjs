/** The client library of this repository, whose service is the broker: its token manager refreshes when a token is old. */
import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
import { createSso } from '@owner-sso/core'

const { BROKER_URL, BROKER_KEY, OWNER_API_URL } = process.env
const sso = createSso({ authUrl: BROKER_URL })

let tokens = {
  access_token: 'none',
  refresh_token: BROKER_KEY,
  token_type: 'bearer',
  expires_at: 0,
  auth_url: BROKER_URL,
}
for await (const _ of createInterface({ input: process.stdin })) {
  tokens = await sso.refresh(tokens)
  const headers = { authorization: `Bearer ${tokens.access_token}` }
  const { status } = await fetch(`${OWNER_API_URL}/api/1/vehicles`, { headers })
  console.log(`${status} ${createHash('sha256').update(tokens.access_token).digest('hex').slice(0, 12)}`)
}
