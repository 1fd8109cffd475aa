/**
 * An OpenID provider that rotates refresh tokens and revokes a grant when one is used twice: `oidc-provider`, in a process of
 * its own. Its parent tells it what to do with the next refresh, and asks what it has seen.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Provider } from 'oidc-provider'
import { answer } from './commands.mjs'

const clientId = 'app'
const owner = 'owner'
const scope = 'openid offline_access'
const counters = { requests: 0, refreshes: 0, reuses: 0, revoked: 0 }
/** What becomes of the next request: it is dropped before the provider sees it, or its response is. */
let drop
/** The next request waits for this, and is dropped where it comes to that. */
let gate

const server = createServer((request, response) => provider.callback()(request, response)).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${server.address().port}`

const grants = { grant_types: ['authorization_code', 'refresh_token'] }
const provider = new Provider(url, {
  clients: [
    {
      client_id: clientId,
      token_endpoint_auth_method: 'none',
      redirect_uris: ['https://app.example.com/callback'],
      ...grants,
    },
    // Those of the programs in the guide.
    {
      client_id: 'web',
      client_secret: 'the secret of web',
      redirect_uris: [process.argv[2]].filter(Boolean),
      ...grants,
    },
    {
      client_id: 'native',
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      redirect_uris: ['http://127.0.0.1/callback'],
      ...grants,
    },
  ].filter(({ redirect_uris }) => redirect_uris.length > 0),
  findAccount: (_context, accountId) => ({ accountId, claims: () => ({ sub: accountId }) }),
  rotateRefreshToken: true,
  issueRefreshToken: () => true,
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
  // Nobody is asked for anything: whoever comes is the owner, and allows it.
  async loadExistingGrant({ oidc: { client, session } }) {
    const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId })
    grant.addOIDCScope(scope)
    await grant.save()
    return grant
  },
  ttl: { AccessToken: 3600, RefreshToken: 86_400, Grant: 86_400, Interaction: 60, Session: 86_400, IdToken: 3600 },
})
// A proxy's word about https is nobody's here.
provider.on('grant.success', ({ oidc }) => {
  if (oidc.params.grant_type === 'refresh_token') counters.refreshes += 1
})
provider.on('grant.error', (_context, { error_detail: detail }) => {
  if (detail === 'refresh token already used') counters.reuses += 1
})
provider.on('grant.revoked', () => (counters.revoked += 1))
provider.use(async (context, next) => {
  const { method, path, query } = context
  if (path.startsWith('/interaction/')) {
    await provider.interactionFinished(context.req, context.res, { login: { accountId: owner }, consent: {} })
    context.respond = false
    return
  }
  if (method !== 'POST' || path !== '/token') return next()
  counters.requests += 1
  const dropped = drop
  drop = undefined
  if (gate !== undefined) {
    const held = gate
    gate = undefined
    process.send({ held: query.worker ?? null })
    if ((await held.opened) === 'drop') {
      context.respond = false
      return
    }
  }
  if (dropped !== 'request') await next()
  if (dropped === undefined) return
  // No answer: the test kills whoever waits for it.
  context.respond = false
  process.send({ dropped })
})

let release
const commands = {
  /** A sign-in, as far as the token manager sees it. */
  async signIn(client_id = clientId) {
    const grant = new provider.Grant({ accountId: owner, clientId: client_id })
    grant.addOIDCScope(scope)
    const client = await provider.Client.find(client_id)
    const refreshToken = new provider.RefreshToken({
      accountId: owner,
      client,
      grantId: await grant.save(),
      gty: 'authorization_code',
      scope,
    })
    return refreshToken.save()
  },
  drop: (what) => void (drop = what),
  /** The next request waits until it is released. */
  hold() {
    const opened = new Promise((resolve) => (release = resolve))
    gate = { opened }
  },
  release: (how) => void release(how ?? 'go on'),
  counters: () => counters,
}

answer(commands)
process.send({ url, tokenEndpoint: `${url}/token` })
