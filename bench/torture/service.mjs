/**
 * A strict token service (RFC 6749, RFC 9700): a refresh token works once, and one that is sent again revokes its whole family, the
 * access tokens too. It counts, answers as it is told, and has the owner API beside it, which takes its access tokens.
 */
import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/** Seconds that an access token lives. */
const life = 3600

/** @param certificate - `{ key, cert }`, for those who talk to nothing but TLS */
export async function startService({ now, random, certificate }) {
  const counters = { requests: 0, refreshes: 0, replays: 0, revoked: 0 }
  const refreshTokens = new Map()
  const accessTokens = new Map()
  let underWay = 0
  /** What becomes of the next refresh request: `{ status, omit, lost, delay, committed }`, all optional. */
  let behave = asAlways

  const name = (kind) => `${kind}-${Math.floor(random() * 2 ** 52).toString(36)}${accessTokens.size}`

  function issue(family, isRotating = true) {
    const access_token = name('access')
    accessTokens.set(access_token, { family, ends: now() + life * 1000 })
    const body = { access_token, token_type: 'Bearer', expires_in: life }
    if (!isRotating) return body
    const refresh_token = name('refresh')
    refreshTokens.set(refresh_token, { family, isSpent: false })
    return { ...body, refresh_token }
  }

  function refresh(sent, isRotating) {
    const held = refreshTokens.get(sent)
    if (held?.isSpent) {
      counters.replays += 1
      if (!held.family.isRevoked) counters.revoked += 1
      held.family.isRevoked = true
    }
    if (held === undefined || held.family.isRevoked) return undefined
    held.isSpent = isRotating
    counters.refreshes += 1
    return issue(held.family, isRotating)
  }

  async function token(request, response) {
    const form = new URLSearchParams(await text(request))
    if (form.get('grant_type') === 'authorization_code') return answer(response, 200, withIdToken(issue({}), form))
    counters.requests += 1
    const action = await behave({ port: request.socket.remotePort })
    if (action.status) return answer(response, action.status, { error: 'temporarily_unavailable' })
    const body = refresh(form.get('refresh_token'), !action.omit)
    await action.committed?.()
    await new Promise((resolve) => setTimeout(resolve, action.delay ?? 100 + random() * 50))
    if (action.lost) request.socket.destroy()
    else if (body === undefined) answer(response, 400, { error: 'invalid_grant' })
    else answer(response, 200, withIdToken(body, form))
  }

  /** For those who ask for `openid`. Nobody checks its signature: it comes straight from the token endpoint (OpenID Connect Core, 3.1.3.7). */
  function withIdToken(body, form) {
    if (!form.get('scope')?.split(' ').includes('openid')) return body
    const iat = Math.floor(now() / 1000)
    const claims = { iss: issuer, aud: form.get('client_id'), sub: 'owner', iat, exp: iat + life }
    return { ...body, scope: form.get('scope'), id_token: `${part({ alg: 'RS256' })}.${part(claims)}.unchecked` }
  }

  function api(request, response) {
    const held = accessTokens.get(request.headers.authorization?.slice('Bearer '.length))
    const isAccepted = held !== undefined && now() < held.ends && !held.family.isRevoked && !held.isRefused
    answer(response, isAccepted ? 200 : 401, {})
  }

  function handle(request, response) {
    underWay += 1
    response.setHeader('connection', 'close')
    // A client that is gone in the middle of its request is no error of ours.
    const gone = () => request.socket.destroy()
    void token(request, response)
      .catch(gone)
      .finally(() => (underWay -= 1))
  }
  const servers = [createServer(handle), createSecureServer(certificate, handle), createServer(api)]
  const [plain, secure, owner] = await Promise.all(servers.map(listen))
  const issuer = `https://127.0.0.1:${secure}/tenant`

  return {
    counters,
    tokenPorts: [plain, secure],
    tokenUrl: `http://127.0.0.1:${plain}/token`,
    issuer,
    apiUrl: `http://127.0.0.1:${owner}/api`,
    /** A sign-in: the first tokens of a family. */
    signIn: () => issue({}),
    /** @param next - called with each refresh request, before anything is done with it */
    behave(next = asAlways) {
      behave = next
    },
    /** From now on the owner API answers 401 to every access token that was issued so far. */
    refuseAll() {
      for (const held of accessTokens.values()) held.isRefused = true
    },
    isIdle: () => underWay === 0,
    close() {
      for (const server of servers) server.close().closeAllConnections()
    },
  }
}

function answer(response, status, body) {
  if (response.destroyed) return
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}

const asAlways = async () => ({})

const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')

async function listen(server) {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server.address().port
}
