/** One process of an application, with `oauthIssuer`. Tokens leave it as hashes alone. */
import { createHash } from 'node:crypto'
import { createTokenManager } from '@owner-sso/token-manager'
import { oauthIssuer } from '@owner-sso/token-manager/oauth'
import './moved-clock.mjs'
import { answer } from './commands.mjs'

const account = 'owner'
let tokens
let store

const commands = {
  async open({ tokenUrl, path, redisUrl }) {
    store = path === undefined ? await redisStore(redisUrl) : await fileStore(path)
    // By its query the provider tells who asks.
    const issuer = oauthIssuer({ tokenUrl: `${tokenUrl}?worker=${process.pid}`, clientId: 'app' })
    tokens = createTokenManager({ issuer, store, minRefreshInterval: 0 })
  },
  save: (refresh_token) => tokens.save(account, { access_token: 'none', refresh_token, expires_at: 1_700_000_000 }),
  /** How the calls of so many callers ended: hashes of access tokens, and codes of errors. */
  async ask(callers) {
    const answers = await Promise.allSettled(Array.from({ length: callers }, () => tokens.getAccessToken(account)))
    return answers.map(({ value, reason }) =>
      reason === undefined ? createHash('sha256').update(value).digest('hex') : (reason.reason ?? reason.code),
    )
  },
}

/** Only the store that is used is loaded: that is a third of what a start takes. */
async function fileStore(path) {
  const { fileTokenStore } = await import('@owner-sso/token-store-file')
  return fileTokenStore({ path })
}

async function redisStore(url) {
  const { redisTokenStore } = await import('@owner-sso/token-store-redis')
  const { createClient } = await import('redis')
  return redisTokenStore({ client: await createClient({ url }).connect() })
}

answer(commands)
process.send({ ready: true })
