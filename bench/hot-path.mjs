/**
 * The hot path: `getAccessToken` of an account whose token is in memory and fresh, beside an awaited Map look-up with a
 * glance at the clock, and beside what peers do. `node bench/hot-path.mjs [ACCOUNTS]`. Ratios, all in one run.
 *
 * "Flat" has so many accounts in memory, visited in a random order, on both sides. A peer keeps one token an object; it is
 * measured with one.
 */
import { createTokenManager } from '@owner-sso/core'
import { OAuth2Client } from 'google-auth-library'
import { ClientCredentials } from 'simple-oauth2'

const most = Number(process.argv[2] ?? 1_000_000)
const sizes = [1, 1000, most]
const batches = 200
const batch = 5000

const hour = 3600
const now = Math.floor(Date.now() / 1000)
const names = Array.from({ length: most }, (_, index) => `owner-${index}@example.com`)
// A megaton of different tokens would measure the memory of the machine: what differs here is the accounts.
const tokenSet = {
  access_token: 'x'.repeat(700),
  refresh_token: 'y'.repeat(40),
  token_type: 'Bearer',
  expires_at: now + 8 * hour,
  auth_url: 'http://127.0.0.1',
}
const record = {
  schema: 1,
  state: 'signed-in',
  generation: 1,
  refreshes: 0,
  lineage: 'z',
  tokens: tokenSet,
  obtained_at: now,
  lifetime: 8 * hour,
}
/** A store that is read once an account, and never again. */
let reads = 0
const store = {
  async read() {
    reads += 1
    return { version: 1, record }
  },
  swap: () => Promise.reject(new Error('nothing is written here')),
}
const sso = { refresh: () => Promise.reject(new Error('nothing is refreshed here')) }

const candidates = []
for (const size of sizes) {
  const tokens = createTokenManager({ issuer: sso, store, cachedAccounts: size })
  const map = new Map()
  for (let index = 0; index < size; index += 1) {
    map.set(names[index], { token: tokenSet.access_token, until: (now + 8 * hour) * 1000 })
    await tokens.getAccessToken(names[index])
  }
  // The second call is the first one that is answered from memory: all of them are in use.
  for (let index = 0; index < size; index += 1) await tokens.getAccessToken(names[index])
  candidates.push(
    { name: 'Map look-up + clock', size, call: (name) => lookUp(map, name), floor: true },
    { name: 'getAccessToken', size, call: (name) => tokens.getAccessToken(name) },
  )
}
candidates.push(googleAuthLibrary(), simpleOauth2())
const readsBefore = reads

/** The same accounts in the same order on both sides. */
const orders = new Map(
  sizes.map((size) => [size, Array.from({ length: batch }, () => names[Math.floor(Math.random() * size)])]),
)

/** Nanoseconds a call, of each batch; candidates take turns batch by batch, so that all meet the same machine. */
for (const candidate of candidates) {
  candidate.times = []
  candidate.visits = orders.get(candidate.size)
}
for (let turn = 0; turn < batches; turn += 1) {
  for (const { call, visits, times } of candidates) {
    const began = process.hrtime.bigint()
    for (const name of visits) await call(name)
    times.push(Number(process.hrtime.bigint() - began) / batch)
  }
}

const median = ({ times }) => times.toSorted((a, b) => a - b)[times.length >> 1]
const floorOf = (size) => median(candidates.find((each) => each.floor && each.size === size))
const one = median(candidates.find(({ name, size }) => name === 'getAccessToken' && size === 1))
console.table(
  candidates.map((candidate) => ({
    candidate: candidate.name,
    accounts: candidate.size,
    'ns a call': Math.round(median(candidate)),
    'to the floor': Number((median(candidate) / floorOf(candidate.size)).toFixed(2)),
    'to one account': candidate.name === 'getAccessToken' ? Number((median(candidate) / one).toFixed(2)) : undefined,
  })),
)
console.log(`Budget: 1.3 × the floor. Reads of the store during the measurement: ${reads - readsBefore}.`)

async function lookUp(map, name) {
  const entry = map.get(name)
  if (entry !== undefined && Date.now() < entry.until) return entry.token
  throw new Error('not here')
}

function googleAuthLibrary() {
  const client = new OAuth2Client()
  client.setCredentials({ access_token: tokenSet.access_token, expiry_date: (now + 8 * hour) * 1000 })
  return { name: 'google-auth-library getAccessToken', size: 1, call: () => client.getAccessToken() }
}

function simpleOauth2() {
  const client = new ClientCredentials({ client: { id: 'i', secret: 's' }, auth: { tokenHost: 'http://127.0.0.1' } })
  const token = client.createToken({ access_token: tokenSet.access_token, expires_in: 8 * hour })
  const call = async () => (token.expired() ? undefined : token.token.access_token)
  return { name: 'simple-oauth2 expired()', size: 1, call }
}
