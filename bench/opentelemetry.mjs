/**
 * What `instrumentOwnerSso` costs on the hot path: `getAccessToken` of a token in memory while nobody listens, and while it
 * counts with the real SDK. `node bench/opentelemetry.mjs`. Both take turns batch by batch, so that they meet the same machine.
 */
import { metrics } from '@opentelemetry/api'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { createTokenManager } from '@owner-sso/core'
import { instrumentOwnerSso } from '@owner-sso/opentelemetry'
import { memoryTokenStore } from '@owner-sso/token-store-memory'

const [batches, batch] = [400, 5000]
const account = 'owner@example.com'
const sso = { refresh: () => Promise.reject(new Error('nothing is refreshed here')) }
const tokens = createTokenManager({ issuer: sso, store: memoryTokenStore() })
await tokens.save(account, {
  access_token: 'x'.repeat(700),
  refresh_token: 'y'.repeat(40),
  token_type: 'Bearer',
  expires_at: Math.floor(Date.now() / 1000) + 28_800,
  auth_url: 'http://127.0.0.1',
})
metrics.setGlobalMeterProvider(new MeterProvider())

const nothing = () => undefined
const variants = [
  { name: 'getAccessToken, nobody listens', begin: () => nothing },
  { name: 'getAccessToken, instrumented', begin: instrumentOwnerSso },
].map((variant) => ({ ...variant, times: [] }))
for (let turn = 0; turn < batches; turn += 1) {
  for (const { begin, times } of variants) {
    const end = begin()
    const began = process.hrtime.bigint()
    for (let done = 0; done < batch; done += 1) await tokens.getAccessToken(account)
    times.push(Number(process.hrtime.bigint() - began) / batch)
    end()
  }
}
const median = ({ times }) => times.toSorted((a, b) => a - b)[times.length >> 1]
console.table(
  variants.map((variant) => ({
    candidate: variant.name,
    'ns a call': Math.round(median(variant)),
    ratio: Number((median(variant) / median(variants[0])).toFixed(2)),
  })),
)
