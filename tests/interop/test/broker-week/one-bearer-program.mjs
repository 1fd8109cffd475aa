/**
 * A logger of the shape that people run: it has one address for tokens and for the owner API, and puts one bearer on every request,
 * refreshes included. The bearer is its key, or the access token that it refreshed last.
 */
import { createInterface } from 'node:readline'

const { BROKER_URL: address, BROKER_KEY: key } = process.env
const keepsKey = process.argv[2] === 'key'
let [bearer, refreshToken] = [key, key]

for await (const _ of createInterface({ input: process.stdin })) {
  const form = new URLSearchParams({ grant_type: 'refresh_token', client_id: 'ownerapi', refresh_token: refreshToken })
  const ask = (path, more) => fetch(address + path, { ...more, headers: { authorization: `Bearer ${bearer}` } })
  const refresh = await ask('/oauth2/v3/token', { method: 'POST', body: form })
  const tokens = await refresh.json()
  if (!keepsKey) [bearer, refreshToken] = [tokens.access_token, tokens.refresh_token]
  const list = await ask('/api/1/products')
  const [{ id_s, id }] = (await list.json()).response.filter(({ vin }) => vin)
  const data = await ask(`/api/1/vehicles/${id_s ?? id}`)
  console.log(`${[refresh, list, data].find(({ status }) => status !== 200)?.status ?? 200} proxied`)
}
