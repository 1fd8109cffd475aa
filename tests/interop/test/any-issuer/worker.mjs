/** One process of an application, with the issuer of the token manager’s README. Tokens leave it as hashes alone. */
import { createHash } from 'node:crypto'

const now = Date.now
let ahead = 0
// Before the token manager is loaded: the test moves the clock of all processes.
Date.now = () => now() + ahead

const { createTokenManager } = await import('@owner-sso/token-manager')
const client = await import('openid-client')

const account = 'owner'
let tokens
let store

const commands = {
  async open({ program, server, path, redisUrl }) {
    const { openidIssuer } = await import(program)
    store = path === undefined ? await redisStore(redisUrl) : await fileStore(path)
    const configure = () => {
      const config = new client.Configuration(server, 'app', undefined, client.None())
      client.allowInsecureRequests(config)
      return config
    }
    tokens = createTokenManager({ issuer: openidIssuer(configure), store, minRefreshInterval: 0 })
  },
  async save({ refresh_token, auth_url }) {
    const expires_at = Math.floor(Date.now() / 1000)
    await tokens.save(account, { access_token: 'none', refresh_token, token_type: 'Bearer', expires_at, auth_url })
  },
  move: (milliseconds) => void (ahead += milliseconds),
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

process.on('message', ({ command, argument }) => void run(command, argument))
async function run(command, argument) {
  const result = await commands[command](argument)
  process.send({ result: result ?? null })
}
process.send({ ready: true })
