/**
 * Calls of the owner API in a process that turns certificate checks off when everything is set up already: Node reads the
 * variable at each connection, where a test can't change it. Prints, as JSON, what came of each call.
 *
 * Arguments: a port of this machine, which `owner-api.example.com` is here; the access token.
 */
import axios from 'axios'
import { Agent as Dispatcher } from 'undici'
import { createTokenManager } from '@owner-sso/core'
import { memoryTokenStore } from '@owner-sso/token-store-memory'
import { attachBearer, ownerFetch } from '../../dist/index.js'

const [port, access_token] = process.argv.slice(2)
const account = 'plain@example.com'
const sso = { refresh: () => Promise.reject(new Error('nothing is refreshed here')) }
const tokens = createTokenManager({ issuer: sso, store: memoryTokenStore() })
const expires_at = Math.floor(Date.now() / 1000) + 28_800
const auth_url = 'https://auth.example.com'
await tokens.save(account, { access_token, refresh_token: 'refresh', token_type: 'Bearer', expires_at, auth_url })

const lookup = (_host, { all }, found) =>
  all ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4)
const address = `https://owner-api.example.com:${port}/api/1/vehicles`
const dispatcher = new Dispatcher({ connect: { lookup } })
const call = attachBearer(axios.create({ fetchOptions: { dispatcher } }), { tokens, account })
const callFetch = ownerFetch({ tokens, account, fetch: (input, init) => fetch(input, { ...init, dispatcher }) })

const outcomes = {}
const told = ({ name, message }) => `${name}: ${message}`
process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
outcomes.axios = await call.get(address).then(({ status }) => status, told)
outcomes.fetch = await callFetch(address).then(({ status }) => status, told)
console.log(JSON.stringify(outcomes))
process.exit()
