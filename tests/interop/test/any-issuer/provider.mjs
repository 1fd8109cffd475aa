/**
 * An OpenID provider that rotates refresh tokens and revokes a grant when one is used twice: `oidc-provider`, in a process of
 * its own. Its parent tells it what to do with the next refresh, and asks what it has seen.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'

const clientId = 'app'
const counters = { requests: 0, refreshes: 0, reuses: 0 }
/** What becomes of the next request: it is dropped before the provider sees it, or its response is. */
let drop

const server = createServer((request, response) => provider.callback()(request, response)).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${server.address().port}`

const provider = new Provider(url, {
  clients: [
    {
      client_id: clientId,
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      redirect_uris: ['https://app.example.com/callback'],
    },
  ],
  findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  rotateRefreshToken: true,
  ttl: { AccessToken: 3600, RefreshToken: 86_400, Grant: 86_400 },
})
provider.on('grant.success', () => (counters.refreshes += 1))
provider.on('grant.error', (_context, { error_detail: detail }) => {
  if (detail === 'refresh token already used') counters.reuses += 1
})
provider.use(async (context, next) => {
  counters.requests += 1
  const dropped = drop
  drop = undefined
  if (dropped !== 'request') await next()
  if (dropped === undefined) return
  // No answer: the test kills whoever waits for it.
  context.respond = false
  process.send({ dropped })
})

const commands = {
  /** A sign-in, as far as the token manager sees it. */
  async signIn() {
    const grant = new provider.Grant({ accountId: 'owner', clientId })
    grant.addOIDCScope('offline_access')
    const client = await provider.Client.find(clientId)
    const refreshToken = new provider.RefreshToken({
      accountId: 'owner',
      client,
      grantId: await grant.save(),
      gty: 'authorization_code',
      scope: 'offline_access',
    })
    return refreshToken.save()
  },
  drop: (what) => void (drop = what),
  counters: () => counters,
}

process.on('message', ({ command, argument }) => void run(command, argument))
async function run(command, argument) {
  const result = await commands[command](argument)
  process.send({ result: result ?? null })
}
process.send({ url, tokenEndpoint: `${url}/token` })
